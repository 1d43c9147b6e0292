import Testing

@testable import Broker

@Suite struct LogTests {
  private let small = [
    "cleanup.policy": "compact", "segment.bytes": "400", "min.cleanable.dirty.ratio": "0",
    "delete.retention.ms": "10000",
  ]

  @Test func fetchLimitsAreHonouredAndTheFirstBatchAlwaysComes() {
    let sim = Sim()
    sim.topic()
    for index in 0..<5 { sim.produce("\(index)") }
    let size = Int32(sim.batch(["0"]).count)
    func offsets(_ request: FetchRequest) -> [String] {
      guard case .fetch(let r) = sim.call(.fetch(request)) else { return [] }
      return sim.batches(r.topics[0].partitions[0]).map { batch in
        batch.withUnsafeBytes {
          String(BatchView($0.baseAddress!).baseOffset)
        }
      }
    }
    #expect(offsets(sim.fetchRequest(maxBytes: 2 * size)) == ["0", "1"])
    #expect(offsets(sim.fetchRequest(from: 3, partitionBytes: 3 * size)) == ["3", "4"])
    #expect(offsets(sim.fetchRequest(from: 1, partitionBytes: 2 * size - 1)) == ["1"])
    #expect(offsets(sim.fetchRequest(from: 2, maxBytes: 1)) == ["2"])
  }

  @Test func aFetchWaitsForEnoughOrForItsTime() {
    let sim = Sim()
    sim.topic()
    let size = Int32(sim.batch(["0"]).count)
    let id = sim.send(.fetch(sim.fetchRequest(waitMs: 1_000, minBytes: 2 * size)))
    sim.produce("0")
    #expect(sim.answer(id) == nil)
    sim.produce("1")
    #expect(sim.answer(id) != nil)
    let other = sim.send(.fetch(sim.fetchRequest(from: 2, waitMs: 1_000)))
    sim.pass(999)
    #expect(sim.answer(other) == nil)
    sim.pass(1)
    #expect(sim.answer(other) != nil)
    #expect(sim.fetch(from: 3).error == .offsetOutOfRange)
  }

  @Test func aDeletedTopicEndsTheWait() {
    let sim = Sim()
    sim.topic()
    let id = sim.send(.fetch(sim.fetchRequest(waitMs: 1_000)))
    var request = DeleteTopicsRequest()
    request.names = ["t"]
    _ = sim.call(.deleteTopics(request))
    guard case .fetch(let r)? = sim.answer(id) else {
      Issue.record("still waiting")
      return
    }
    #expect(r.topics[0].partitions[0].error == .unknownTopicOrPartition)
  }

  @Test func offsetsByTime() {
    let sim = Sim()
    sim.topic()
    #expect(sim.offset(at: 5).offset == -1)
    let start = sim.now
    for index in 0..<10 {
      sim.produce("\(index)", "x")
      sim.pass(10)
    }
    #expect(sim.offset(at: -2).offset == 0)
    #expect(sim.offset(at: -1).offset == 20)
    #expect(sim.offset(at: -3).offset == 18)
    #expect(sim.offset(at: 0).offset == 0)
    #expect(sim.offset(at: start + 1).offset == 2)
    #expect(sim.offset(at: start + 90).offset == 18)
    #expect(sim.offset(at: start + 91).offset == -1)
  }

  @Test func recordsAreStampedByTheBrokerWhenSo() {
    let sim = Sim()
    sim.topic("t", ["message.timestamp.type": "LogAppendTime"])
    let stale = sim.batch(["a"])
    sim.pass(500)
    #expect(sim.produce(stale).logAppendTimeMs == sim.now)
    #expect(sim.records()[0].timestampMs == sim.now)
    let stored = sim.batches(sim.fetch())[0]
    #expect(stored.withUnsafeBytes { BatchView.check($0).error } == .none)
  }

  @Test func compactionKeepsTheLastOfEachKeyAndOffsets() {
    let sim = Sim()
    sim.topic("t", small)
    for round in 0..<10 {
      for key in ["a", "b", "c"] { sim.produce("\(key)\(round)", key: key) }
    }
    sim.pass(2_000)
    let records = sim.records()
    let values = records.map { String(decoding: $0.value!, as: UTF8.self) }
    #expect(Array(values.suffix(3)) == ["a9", "b9", "c9"])
    #expect(records.count < 10)
    #expect(records.map(\.offset) == records.map(\.offset).sorted())
    #expect(records.last?.offset == 29)
    #expect(sim.produce("d", key: "d").baseOffset == 30)
    #expect(sim.fetch(from: 3).error == .none)
  }

  @Test(arguments: [Compression.none, .lz4])
  func tombstonesStayForTheirTimeThenGo(compression: Compression) {
    let sim = Sim()
    sim.topic("t", small)
    func put(_ key: String, _ value: String?) {
      var builder = BatchBuilder()
      builder.compression = compression
      let record = Record(
        timestampMs: sim.now, key: Array(key.utf8), value: value.map { Array($0.utf8) })
      #expect(sim.produce(builder.build([record])).error == .none)
    }
    put("a", "1")
    put("a", nil)
    // Each of these closes a segment, so that what is before it can be cleaned.
    func fill() { for index in 0..<6 { put("fill", String(repeating: "\(index)", count: 80)) } }
    fill()
    sim.pass(1_000)
    #expect(sim.records().first?.key == Array("a".utf8))
    #expect(sim.records().first?.value == nil)
    #expect(sim.records().filter { $0.key == Array("a".utf8) }.count == 1)
    sim.pass(8_000)
    fill()
    sim.pass(1_000)
    #expect(sim.records().contains { $0.key == Array("a".utf8) })
    sim.pass(2_000)
    fill()
    sim.pass(1_000)
    #expect(!sim.records().contains { $0.key == Array("a".utf8) })
  }

  /// What compaction leaves of a producer's last batch has no records, and says so of its bytes.
  @Test(arguments: [Compression.none, .lz4, .gzip, .zstd])
  func anEmptyBatchIsNotCompressed(compression: Compression) {
    var builder = BatchBuilder()
    builder.compression = compression
    let bytes = builder.build(
      [], sparse: true, baseOffset: 5, lastOffset: 7, baseTimestampMs: 1, maxTimestampMs: 1)
    bytes.withUnsafeBytes { bytes in
      let batch = BatchView(bytes.baseAddress!)
      #expect(batch.compression == Compression.none && batch.decodeRecords()?.isEmpty == true)
    }
  }

  @Test func compactionDropsAbortedRecordsAndNotTheOpenOnes() {
    let sim = Sim()
    sim.topic("t", small)
    var p = sim.producer("x")
    sim.produce("kept", key: "k")
    sim.add(p)
    sim.write("bad", by: &p, key: "k")
    sim.end(p, commit: false)
    for _ in 0..<6 { sim.produce("fill", key: "f") }
    sim.pass(1_500)
    #expect(sim.read(committed: false).contains("bad") == false)
    #expect(sim.read().contains("kept"))
    sim.add(p)
    sim.write("open", by: &p, key: "k")
    for _ in 0..<6 { sim.produce("fill", key: "f") }
    sim.pass(1_500)
    #expect(sim.read(committed: false).contains("kept"))
    sim.end(p, commit: true)
    for _ in 0..<6 { sim.produce("fill", key: "f") }
    sim.pass(1_500)
    #expect(!sim.read().contains("kept") && sim.read().contains("open"))
    // Sequences are known still: the batch before is a duplicate, the next one goes on.
    sim.add(p)
    #expect(sim.write("next", by: &p, key: "n").error == .none)
  }

  @Test func aCompactedTopicTakesNoRecordWithoutKey() {
    let sim = Sim()
    sim.topic("t", small)
    let result = sim.produce("a")
    #expect(result.error == .invalidRecord)
    #expect(result.recordErrors.map(\.batchIndex) == [0])
  }

  @Test func retentionByTimeAndBySize() {
    let sim = Sim()
    sim.topic("time", ["retention.ms": "5000", "segment.bytes": "200"])
    sim.topic("size", ["retention.bytes": "400", "segment.bytes": "200"])
    for index in 0..<10 {
      sim.produce("\(index)", to: "time")
      sim.produce("\(index)", to: "size")
    }
    sim.pass(4_000)
    sim.produce("late", to: "time")
    #expect(sim.read("time").count == 11)
    let left = sim.records("size").map(\.offset)
    #expect(left.last == 9 && left.count < 10 && left.count >= 4)
    #expect(sim.offset("size", at: -2).offset == left.first)
    #expect(sim.fetch("size").error == .offsetOutOfRange)
    sim.pass(2_000)
    #expect(sim.read("time").last == "late" && sim.read("time").count < 4)
    sim.pass(5_000)
    #expect(sim.read("time") == [])
    #expect(sim.produce("next", to: "time").baseOffset == 11)
  }

  @Test func deletedRecordsAreGone() {
    let sim = Sim()
    sim.topic()
    for index in 0..<5 { sim.produce("\(index)") }
    func delete(_ offset: Int64) -> DeletedRecordsPartition {
      var request = DeleteRecordsRequest()
      var topic = DeleteRecordsTopic()
      topic.name = "t"
      var partition = DeleteRecordsPartition()
      partition.offset = offset
      topic.partitions = [partition]
      request.topics = [topic]
      guard case .deleteRecords(let r) = sim.call(.deleteRecords(request)) else { fatalError() }
      return r.topics[0].partitions[0]
    }
    #expect(delete(3).lowWatermark == 3)
    #expect(sim.fetch(from: 2).error == .offsetOutOfRange)
    #expect(sim.read() == ["3", "4"])
    #expect(delete(6).error == .offsetOutOfRange)
    #expect(delete(-1).lowWatermark == 5)
  }
}

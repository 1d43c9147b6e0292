import Gate
import Testing

@testable import Consumer
@testable import Kafka
@testable import Pipeline
@testable import Producer

/// What a lane remembers is read back by two threads that hand batches to each other.
@Suite struct StateTopicTests {
  static let perPartition = 6_000
  static let partitions: Int32 = 2

  /// Numbered records on both topics; every third hold carries a header of its own.
  static func fill(_ cluster: MockCluster) throws {
    for topic in ["state", "deferred"] {
      let publisher = try CandidatePublisher(
        topic: topic, properties: cluster.properties, onEvent: { _ in })
      for number in 0..<(2 * perPartition) {
        // Keys that the partitioner spreads as it likes: the test goes by what is where.
        try "\(topic)-\(number)".withBytes { key in
          try "{}".withBytes { value in
            try publisher.publish(
              key: key, value: value,
              headers: number % 3 == 0 ? [("trace", "\(topic)-\(number)")] : [])
          }
        }
      }
      try publisher.finish(timeoutMs: 30_000)
      publisher.close()
    }
  }

  struct Read {
    /// By stream and partition: the offset of the next record.
    var next: [String: Int64] = [:]
    var ended: Set<String> = []
    var records = 0
    var wrong: [String] = []
  }

  static func place(_ position: StatePosition) -> String {
    "\(position.stream) \(position.partition)"
  }

  static func expectedHeaders(_ key: String) -> [UInt8] {
    let number = Int(key.split(separator: "-")[1])!
    guard key.hasPrefix("deferred"), number % 3 == 0 else { return [] }
    // As `HeaderKeeper` writes them: two sizes of 32 bits, name, value.
    let sizes = [UInt32(5), UInt32(key.utf8.count)].flatMap {
      withUnsafeBytes(of: $0) { Array($0) }
    }
    return sizes + Array("trace".utf8) + Array(key.utf8)
  }

  static func poll(_ topic: StateTopic, into read: inout Read) throws {
    try topic.poll(timeoutMs: 10) { event in
      switch event {
      case .record(let position, let key, _, let headers):
        let place = place(position)
        if read.next[place] != position.offset {
          read.wrong.append("\(position) came where \(read.next[place] ?? -1) was next")
        }
        read.next[place] = position.offset + 1
        let text = String(decoding: key!, as: UTF8.self)
        if Array(headers) != expectedHeaders(text) { read.wrong.append("headers of \(text)") }
        read.records += 1
      case .end(let position): read.ended.insert(place(position))
      case .outOfRange(let stream, let partition):
        read.wrong.append("\(stream) \(partition) out of range")
      }
    }
  }

  /// However often it is told to read elsewhere in the middle: from there on every record comes, once, in
  /// order, with its own headers, and nothing comes of what was read ahead.
  @Test func everyRecordComesOnceFromWhereverItIsToldToRead() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func random(below bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    let cluster = try MockCluster(topic: "state", partitions: Self.partitions)
    defer { cluster.close() }
    cluster.create("deferred", partitions: Self.partitions)
    try Self.fill(cluster)
    let topic = try StateTopic(
      topic: "state", deferredTopic: "deferred", properties: cluster.properties,
      onEvent: { _ in }, onProblem: { Issue.record("\($0)") })
    defer { topic.close() }
    let all = [StateStream.state, .holds].flatMap { stream in
      (0..<Self.partitions).map { StatePosition(stream, partition: $0, offset: 0) }
    }
    for turn in 0..<8 {
      let from = all.filter { _ in turn == 7 || random(below: 4) > 0 }.map {
        StatePosition(
          $0.stream, partition: $0.partition,
          offset: turn == 7 ? 0 : Int64(random(below: 3_000)))
      }
      var read = Read()
      for position in from { read.next[Self.place(position)] = position.offset }
      try topic.read(from)
      // Left in the middle but for the last turn.
      let enough = turn == 7 ? Int.max : Int(random(below: 9_000))
      for _ in 0..<6_000 where read.ended.count < from.count && read.records < enough {
        try Self.poll(topic, into: &read)
      }
      #expect(read.wrong.isEmpty, "seed \(seed), turn \(turn): \(read.wrong.prefix(3))")
      if turn == 7 {
        #expect(read.ended.count == all.count, "seed \(seed)")
        #expect(read.records == 4 * Self.perPartition, "seed \(seed)")
      }
    }
    try topic.read([])
  }
}

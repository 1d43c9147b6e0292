import Kafka
import Pipeline
import Preferences

/// A record of a partition; its bytes are the batch's.
struct BorrowedRecord {
  var offset: Int64
  var timestampMs: Int64
  var key: UnsafeRawBufferPointer?
  var value: UnsafeRawBufferPointer?
}

extension BorrowedRecord {
  init(_ record: RecordView) {
    self.init(
      offset: record.offset, timestampMs: record.timestampMs, key: record.key,
      value: record.value)
  }
}

/// One partition that is read.
struct IndexPartition {
  /// Of the session's topics, the index.
  var topic: Int
  var number: Int32
  var source: IndexSource
  /// The partition is the one that was read before, as far as can be told.
  var isKnown: Bool
  /// Something was found that has to be looked at first; what follows is not taken.
  var isLost = false
  var isAtEnd = false
  var reached: Int64 = 0
  /// Everything below is in the database.
  var written: Int64

  init(topic: Int, number: Int32, source: IndexSource) {
    self.topic = topic
    self.number = number
    self.source = source
    isKnown = source.last == nil
    written = max(0, source.nextOffset)
  }

  /// Where to begin reading: at the last record that was read, where it has to be recognised.
  var startOffset: Int64 { isKnown ? source.nextOffset : source.last!.offset }
}

/// From what a consumer gives to what is written: no I/O. Keeps where each partition is, what waits to
/// be written, and how far all of it is behind.
struct IndexIntake: ~Copyable {
  /// A partition whose place is not there.
  struct Lost {
    var index: Int
    /// Another record stands where the last one was read: the topic was made anew.
    var isOther: Bool
  }

  private let topics: [EvidenceTopic]
  private let erased: ErasedUsers
  private let counters: IndexCounters
  private var decoder: RecordDecoder
  private(set) var partitions: [IndexPartition] = []
  /// Of a topic and a partition, the index in `partitions`.
  private var indices: [[Int]]
  private var followed = FollowedEnds(partitionCount: 0)
  private var ends: [Int64] = []
  private(set) var batch = IndexBatch()

  init(topics: [EvidenceTopic], erased: ErasedUsers, counters: IndexCounters, nowMs: Int64) {
    self.topics = topics
    self.erased = erased
    self.counters = counters
    indices = topics.map { _ in [] }
    decoder = RecordDecoder(nowMs: nowMs)
  }

  /// In the order of topics, and in each of partitions.
  mutating func set(_ found: [IndexPartition]) {
    partitions = found.sorted { ($0.topic, $0.number) < ($1.topic, $1.number) }
    indices = topics.indices.map { topic in
      partitions.indices.filter { partitions[$0].topic == topic }
    }
    followed = FollowedEnds(partitionCount: partitions.count)
    ends = []
  }

  /// The partition is another one now.
  mutating func reset(_ index: Int, to source: IndexSource) {
    let old = partitions[index]
    partitions[index] = IndexPartition(topic: old.topic, number: old.number, source: source)
    // What was reached counts offsets of the old one.
    set(partitions)
  }

  /// Goes on from another offset of the same partition.
  mutating func move(_ index: Int, to offset: Int64) {
    partitions[index].source.nextOffset = offset
    partitions[index].isKnown = true
    partitions[index].isLost = false
    partitions[index].written = max(partitions[index].written, offset)
  }

  /// Where the partitions ended at an instant, in their order.
  mutating func asked(_ ends: [Int64], atMs: Int64) {
    self.ends = ends
    for (index, end) in ends.enumerated() {
      followed.asked(atMs: atMs, partition: Int32(index), end: end)
    }
    var progress = batch.progress ?? EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil)
    progress.recordsBehind = behind
    progress.freshAtMs = followed.freshAtMs
    batch.progress = progress
  }

  private var behind: Int64 {
    zip(partitions, ends).reduce(0) { sum, one in
      sum + max(0, one.1 - max(one.0.reached, max(0, one.0.source.nextOffset)))
    }
  }

  /// The same of what is in the database: what was read and could not be written yet is missing there.
  var unwritten: Int64 {
    zip(partitions, ends).reduce(0) { sum, one in sum + max(0, one.1 - one.0.written) }
  }

  /// Everything that was taken is in the database.
  mutating func wrote() {
    for index in partitions.indices {
      let partition = partitions[index]
      partitions[index].written = max(
        partition.written, partition.reached, partition.source.nextOffset)
    }
  }

  /// Everything that was there is in what was handed over.
  var isAtEnd: Bool {
    !partitions.isEmpty && behind == 0 && partitions.allSatisfy(\.isAtEnd)
  }

  /// What is to be written; it is forgotten here.
  mutating func takeBatch() -> IndexBatch {
    if batch.progress != nil {
      batch.progress!.recordsBehind = behind
      batch.progress!.freshAtMs = followed.freshAtMs
    }
    let taken = batch
    batch = IndexBatch()
    return taken
  }
}

extension IndexIntake {
  /// Takes what was polled.
  mutating func take(
    _ records: RecordBatch, nowMs: Int64
  ) -> (lost: [Lost], errors: [KafkaError]) {
    decoder.nowMs = nowMs
    var lost: [Lost] = []
    var errors: [KafkaError] = []
    var topic = 0
    /// Of each partition, the last record here.
    var last: [Int: Int] = [:]
    for position in 0..<records.count {
      let record = records[position]
      if !record.isOf(topics[topic].name) {
        guard let found = topics.firstIndex(where: { record.isOf($0.name) }) else {
          if !record.isRecord { errors.append(record.error) }
          continue
        }
        topic = found
      }
      guard indices[topic].indices.contains(Int(record.partition)) else {
        if !record.isRecord { errors.append(record.error) }
        continue
      }
      let index = indices[topic][Int(record.partition)]
      if partitions[index].isLost { continue }
      if record.isRecord {
        let borrowed = BorrowedRecord(record)
        if isOther(borrowed, index) {
          partitions[index].isLost = true
          lost.append(Lost(index: index, isOther: true))
        } else if take(borrowed, index) {
          last[index] = position
        }
      } else if record.isEndOfPartition {
        let isBefore = record.offset < partitions[index].source.nextOffset
        if isBefore {
          // It ends before what was read of it.
          partitions[index].isLost = true
          lost.append(Lost(index: index, isOther: true))
        } else {
          partitions[index].isKnown = true
          partitions[index].isAtEnd = true
          reached(index, record.offset)
        }
      } else if record.isOutOfRange {
        partitions[index].isLost = true
        lost.append(Lost(index: index, isOther: false))
      } else {
        errors.append(record.error)
      }
    }
    for (index, position) in last { mark(BorrowedRecord(records[position]), index) }
    return (lost, errors)
  }

  private mutating func reached(_ index: Int, _ offset: Int64) {
    partitions[index].reached = max(partitions[index].reached, offset)
    followed.reached(partition: Int32(index), offset: offset)
  }

  /// Whether the record stands where another one was read.
  private mutating func isOther(_ record: BorrowedRecord, _ index: Int) -> Bool {
    guard !partitions[index].isKnown else { return false }
    partitions[index].isKnown = true
    guard let mark = partitions[index].source.last, mark.offset == record.offset else {
      // Compaction or retention took it: nothing can be told by it.
      return false
    }
    return RecordDigest.of(record.key, record.value) != mark.digest
  }

  /// The last record that was taken of a partition, for now.
  mutating func mark(_ record: BorrowedRecord, _ index: Int) {
    let mark = IndexSource.Mark(
      offset: record.offset, digest: RecordDigest.of(record.key, record.value))
    partitions[index].source.last = mark
    let source = partitions[index].source
    batch.ends[source.id] = SourceEnd(
      source: source.id, nextOffset: source.nextOffset, lastOffset: mark.offset,
      lastDigest: mark.digest)
  }

  /// False where it was taken before.
  @discardableResult
  mutating func take(_ record: BorrowedRecord, _ index: Int) -> Bool {
    guard record.offset >= partitions[index].source.nextOffset else { return false }
    partitions[index].isAtEnd = false
    partitions[index].source.nextOffset = record.offset + 1
    reached(index, record.offset + 1)
    change(record, index)
    return true
  }

  private mutating func change(_ record: BorrowedRecord, _ index: Int) {
    let source = partitions[index].source.id
    let content = topics[partitions[index].topic].content
    switch content {
    case .preferences:
      guard record.value == nil, let user = record.key.flatMap(RecordDecoder.id) else { return }
      counters.erasures.add()
      let throughMs = decoder.believed(timestampMs: record.timestampMs)
      erased.note(user, throughMs: throughMs)
      batch.changes.append(.erased(userID: user, throughMs: throughMs))
    case .receipts:
      counters.receipts.add()
      let (receipt, isReadable) = decoder.receipt(
        source: source, offset: record.offset, timestampMs: record.timestampMs, key: record.key,
        value: record.value)
      if !isReadable { counters.unreadable.add() }
      if isKept(receipt) { batch.changes.append(.receipt(receipt)) }
    case .deferred where record.value == nil:
      counters.holdsEnded.add()
      guard let key = RecordDecoder.hold(record.key) else { return counters.unreadable.add() }
      batch.changes.append(.holdEnded(key))
    case .approved, .deferred, .dropped, .selfTest:
      count(content)
      let (attempt, facts) = decoder.attempt(
        content, source: source, offset: record.offset, timestampMs: record.timestampMs,
        key: record.key, value: record.value)
      if facts.count == nil { counters.unreadable.add() }
      if isKept(attempt) { batch.changes.append(.attempt(attempt, facts)) }
    }
  }

  private mutating func isKept(_ record: IndexedRecord) -> Bool {
    if let user = record.userID, erased.covers(user, atMs: record.atMs) {
      counters.ofErased.add()
      return false
    }
    var progress = batch.progress ?? EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil)
    progress.newestMs = max(progress.newestMs ?? record.atMs, record.atMs)
    batch.progress = progress
    return true
  }

  private func count(_ content: EvidenceTopic.Content) {
    switch content {
    case .approved: counters.approved.add()
    case .deferred: counters.deferred.add()
    case .dropped: counters.dropped.add()
    case .selfTest: counters.selfTests.add()
    case .receipts, .preferences: break
    }
  }
}

/// By which a record is known again: not a secret, and not made to resist anybody.
enum RecordDigest {
  static func of(_ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ bytes: UnsafeRawBufferPointer?) {
      // Of null and empty, one byte each that no UTF-8 has.
      guard let bytes else { return add(0xFF) }
      add(0xFE)
      for byte in bytes { add(byte) }
    }
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    add(key)
    add(value)
    return Int64(bitPattern: hash)
  }
}

/// One record, ready to be written.
struct IndexedRecord: Sendable, Equatable {
  /// The row of `sources` that it came from.
  var source: Int64
  var offset: Int64
  var atMs: Int64
  var userID: String?
  var notificationID: String?
  var deviceID: String?
  var record: PackedRecord
}

/// What a record of an output topic counts as.
struct AttemptFacts: Sendable, Equatable {
  /// Nil: it is none that a gate writes, and counts as nothing.
  var count: CountKey?
  /// Of a deferral: until when it is held.
  var dueMs: Int64?
}

/// Closed sets, all of them: whatever a candidate calls itself, there are so many rows an hour.
struct CountKey: Hashable, Sendable {
  var hourMs: Int64
  var outcome: String
  var category: String
  var reason: String
}

/// The key of a hold on the deferred topic.
struct HoldKey: Sendable, Equatable {
  var userID: String
  var notificationID: String
  var deviceID: String
}

/// What a record changes, in the order of reading: a hold must not end before it began.
enum IndexChange: Sendable, Equatable {
  case attempt(IndexedRecord, AttemptFacts)
  case receipt(IndexedRecord)
  /// A null value on the deferred topic.
  case holdEnded(HoldKey)
  /// A null value on the preference topic, at its Kafka timestamp.
  case erased(userID: String, throughMs: Int64)
}

/// Where a partition was read to.
struct SourceEnd: Sendable, Equatable {
  var source: Int64
  var nextOffset: Int64
  /// The last record that was read, by which the partition is known again.
  var lastOffset: Int64
  var lastDigest: Int64
}

/// What is written in one transaction.
struct IndexBatch: Sendable {
  var changes: [IndexChange] = []
  var ends: [Int64: SourceEnd] = [:]
  var progress: EvidenceLag?

  var isEmpty: Bool { changes.isEmpty && ends.isEmpty && progress == nil }
}

/// What the transaction coordinator knows of one transactional id.
final class Transaction {
  enum State: Int8 {
    case empty = 0
    case ongoing = 1
    case prepareCommit = 2
    case prepareAbort = 3
    case completeCommit = 4
    case completeAbort = 5
  }

  /// The greatest epoch a producer may have: one more is left to fence it with.
  static let lastEpoch = Int16.max - 1

  let id: String
  var producerId: Int64
  var lastProducerId: Int64 = -1
  var epoch: Int16 = -1
  /// The epoch before, when its owner asked for the new one itself and may ask again.
  var lastEpoch: Int16 = -1
  var timeoutMs: Int32
  var state = State.empty
  var partitions: Set<TopicPartition> = []
  var groups: Set<String> = []
  var startMs: Int64 = -1

  init(id: String, producerId: Int64, timeoutMs: Int32) {
    self.id = id
    self.producerId = producerId
    self.timeoutMs = timeoutMs
  }

  var isEnding: Bool { state == .prepareCommit || state == .prepareAbort }
  var isEpochExhausted: Bool { epoch >= Self.lastEpoch }
}

import Broker
import Gate

/// Numbers what the gate does, so that what came at once to the topics can be told apart by those who
/// check it. Nothing of the gate sees them.
final class Sequence {
  private var last: Int64 = 0
  func next() -> Int64 {
    last += 1
    return last
  }
}

/// One lane of one process, as those who check know it.
final class LaneNotes {
  let number: Int
  let lane: Lane
  let startedAtMs: Int64
  /// When the loop's turn began.
  var turnMs: Int64 = 0
  /// Receipts: when they were read, in the sequence, and which. Read again after an abort, they are
  /// here again.
  var receipts: [(order: Int64, partition: Int32, offsets: Range<Int64>)] = []

  init(number: Int, _ lane: Lane, startedAtMs: Int64) {
    self.number = number
    self.lane = lane
    self.startedAtMs = startedAtMs
  }
}

/// What a lane writes, as records that say who made them and when.
struct SimRecords {
  static let orderHeader = "order"
  static let turnHeader = "turn"
  static let carriedHeader = "carried"
  static let makerHeader = "maker"

  let notes: LaneNotes
  let sequence: Sequence

  func make(
    _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?, carried: [UInt8]?,
    atMs: Int64
  ) -> Record {
    var headers = [
      Record.Header(name: Self.orderHeader, value: Array("\(sequence.next())".utf8)),
      Record.Header(name: Self.turnHeader, value: Array("\(notes.turnMs)".utf8)),
      Record.Header(name: Self.makerHeader, value: Array("\(notes.number)".utf8)),
    ]
    if let carried {
      headers.append(Record.Header(name: Self.carriedHeader, value: carried))
    }
    return Record(
      timestampMs: atMs, key: key.map { Array($0) }, value: value.map { Array($0) },
      headers: headers)
  }

  static func topic(of outcome: Gate.Outcome) -> String {
    switch outcome {
    case .approved: SimTopics.approved
    case .deferred: SimTopics.deferred
    case .dropped: SimTopics.dropped
    }
  }
}

import Gate

/// What is wrong.
struct Violation: Equatable {
  /// Which promise: what a shorter history has to break as well.
  var rule: String
  var text: String
}

/// Everything that was issued, and what the committed transactions made of it: the checkers' memory, kept
/// from the records on the topics alone.
final class Ledger {
  struct HoldKey: Hashable, Comparable {
    var user: String
    var notification: String
    var device: String

    static func < (a: HoldKey, b: HoldKey) -> Bool {
      (a.user, a.notification, a.device) < (b.user, b.notification, b.device)
    }
  }
  struct Hold {
    var input: Input
    var firstDecidedAtMs: Int64
    /// Of the newest decision to hold it.
    var decidedAtMs: Int64
    var deliverAfterMs: Int64
    var documentOffset: Int64
    var zones: String
    /// Its last record is written; the null value is to follow in the same transaction.
    var isEnded = false
  }
  struct DocumentEntry {
    var offset: Int64
    /// Nil: erased.
    var document: Document?
    var visibleAtMs: Int64
  }
  struct ReceiptEntry {
    var user: String
    var notification: String
    var device: String
    var isAccepted: Bool
  }
  struct Place: Hashable {
    var lane: Lane
    var partition: Int32
  }
  struct SeenKey: Hashable {
    var lane: Lane
    var hold: HoldKey
  }

  let scenario: Scenario
  let wall: WallTime
  private(set) var violation: Violation?
  /// Told of each receipt when it counts.
  var onReceipt: (_ order: Int64, ReceiptEntry) -> Void = { _, _ in }

  // What was issued.
  private(set) var inputs: [Input] = []
  private var inputsAt: [Place: [Input]] = [:]
  private(set) var documents: [String: [DocumentEntry]] = [:]
  private var receipts: [Int32: [Int64: ReceiptEntry]] = [:]

  // What became of it.
  /// By input: the devices that have a first decision; empty text: one for the candidate itself.
  var decided: [Int: Set<String>] = [:]
  /// The devices there had to be, by the document that was decided on.
  var expected: [Int: Set<String>] = [:]
  /// Of a gate without transactions: devices that have duplicates alone, and what has ended somehow.
  var onlyDuplicates: [Int: Set<String>] = [:]
  var everEnded: Set<HoldKey> = []
  /// Of those, candidates that were dropped for all of their devices at once.
  var endedWhole: Set<Int> = []
  var seen: [SeenKey: Int64] = [:]
  var caps: CapModel
  var holds: [HoldKey: Hold] = [:]
  var committed: [Place: Int64] = [:]
  var committedReceipts: [Int32: Int64] = [:]
  var newestInTopic: [String: Int64] = [:]
  private(set) var approvals = 0
  private(set) var released = 0
  private(set) var duplicates = 0
  private(set) var capped = 0
  private(set) var transactions = 0

  init(_ scenario: Scenario, _ wall: WallTime) {
    self.scenario = scenario
    self.wall = wall
    caps = CapModel(scenario)
  }

  func fail(_ rule: String, _ text: String) {
    if violation == nil { violation = Violation(rule: rule, text: text) }
  }

  // MARK: Issuing

  func issued(_ input: Input) {
    inputs.append(input)
    inputsAt[Place(lane: input.lane, partition: input.partition), default: []].append(input)
  }

  func inputs(at place: Place, _ offsets: Range<Int64>) -> [Input] {
    (inputsAt[place] ?? []).filter { offsets.contains($0.offset) }
  }

  /// Candidates that no committed transaction has got past.
  var firstUndecided: Input? {
    for lane in [Lane.ordinary, .security] {
      for partition in 0..<scenario.partitions {
        let place = Place(lane: lane, partition: partition)
        let next = committed[place] ?? 0
        guard let newest = inputsAt[place]?.last, newest.offset >= next else { continue }
        return inputsAt[place]!.first { $0.offset >= next }
      }
    }
    return nil
  }

  func wrote(_ document: Document?, of user: String, offset: Int64, atMs: Int64) {
    documents[user, default: []].append(
      DocumentEntry(offset: offset, document: document, visibleAtMs: atMs))
  }

  func wrote(_ receipt: ReceiptEntry, partition: Int32, offset: Int64) {
    receipts[partition, default: [:]][offset] = receipt
  }

  func receipt(_ partition: Int32, _ offset: Int64) -> ReceiptEntry? {
    receipts[partition]?[offset]
  }

  // MARK: Counting

  func count(_ decision: Decision) {
    switch (decision.outcome, decision.reason) {
    case ("approved", "released"):
      approvals += 1
      released += 1
    case ("approved", _): approvals += 1
    case (_, "duplicate"): duplicates += 1
    case (_, "frequency_capped"): capped += 1
    default: break
    }
  }

  func countTransaction() { transactions += 1 }

  var summary: String {
    "\(inputs.count) candidates, \(approvals) approved, \(released) after a hold, "
      + "\(duplicates) duplicates, \(capped) capped, \(transactions) transactions"
  }
}

import Gate
import Preferences
import Testing

@testable import Evidence

/// Which approval a receipt belongs to.
@Suite struct ReceiptLinkTests {
  let world: EvidenceWorld
  let startMs = EvidenceWorld.startMs
  let secondMs: Int64 = 1_000

  init() throws { world = try EvidenceWorld() }

  /// Approvals and drops of n-1 for u-1 on d-1, by the second.
  private func decide(approved: [Int64], duplicates: [Int64] = []) throws {
    try world.take(
      "approved",
      approved.enumerated().map { offset, second in
        Sample(
          Int64(offset), key: "u-1", decision("approved", "ok", atMs: startMs + second * secondMs))
      })
    try world.take(
      "dropped",
      duplicates.enumerated().map { offset, second in
        Sample(
          Int64(offset), key: "u-1",
          decision("dropped", "duplicate", atMs: startMs + second * secondMs))
      })
  }

  private func answer(_ seconds: [Int64]) throws {
    try world.take(
      "receipts",
      seconds.enumerated().map { offset, second in
        let at = Instant.text(startMs + second * secondMs)
        return Sample(
          Int64(offset), key: "u-1", receipt(#""status":"accepted","at":"\#(at)""#))
      })
  }

  /// Of each decision, oldest first: the seconds of its receipts; then those of no approval.
  private func found() throws -> (decisions: [[Int64]], others: [Int64]) {
    let found = try #require(try world.reader.notification("n-1"))
    func seconds(_ receipts: [EvidenceReceipt]) -> [Int64] {
      receipts.map { ($0.atMs - startMs) / secondMs }
    }
    return (found.attempts.map { seconds($0.receipts) }, seconds(found.otherReceipts))
  }

  /// The same id sent twice: what was answered to the first says nothing of the second.
  @Test func aReceiptBelongsToTheNewestApprovalBeforeIt() throws {
    try decide(approved: [0, 100], duplicates: [50])
    try answer([1, 60, 99, 100, 101])
    let links = try found()
    #expect(links.decisions == [[1, 60, 99], [], [100, 101]])
    #expect(links.others == [])
    let story = try world.reader.timeline(user: "u-1", limit: 10).attempts
    #expect(story.map(\.receipts.count) == [2, 0, 3])
  }

  @Test func anApprovalThatNobodyAnsweredHasNone() throws {
    try decide(approved: [0, 100])
    try answer([1, 2])
    let links = try found()
    #expect(links.decisions == [[1, 2], []])
    #expect(links.others == [])
  }

  /// Two of one instant: the later record is the newer one, and no receipt is shown twice.
  @Test func ofTwoApprovalsOfOneInstantTheLaterRecordHasTheReceipt() throws {
    try decide(approved: [0, 0])
    try answer([1])
    #expect(try found().decisions == [[], [1]])
  }

  /// A dispatcher's clock may be a little behind the gate's, and not by any time one likes.
  @Test func aLittleBeforeTheFirstApprovalIsStillOfIt() throws {
    try decide(approved: [0, 100])
    try answer([-61, -60, -1, 99])
    let links = try found()
    #expect(links.decisions == [[-60, -1, 99], []])
    #expect(links.others == [-61])
  }

  @Test func dropsHaveNoReceipts() throws {
    try decide(approved: [], duplicates: [0])
    try answer([1])
    let links = try found()
    #expect(links.decisions == [[]] && links.others == [1])
  }

  /// A campaign of more users than are shown: the rest's receipts are not of unknown devices.
  @Test func receiptsOfDecisionsBehindTheLimitAreNoOthers() throws {
    func users(_ line: (String) -> String) -> [Sample] {
      (0..<30).map { number in
        Sample(Int64(number), key: "u-\(number)", line("\(number)"))
      }
    }
    try world.take(
      "approved", users { decision("approved", "ok", user: "u-\($0)", device: "d-\($0)") })
    try world.take(
      "receipts",
      users { receipt(#""status":"accepted""#, device: "d-\($0)", user: "u-\($0)") }
        + [Sample(30, key: "u-1", receipt(#""status":"accepted""#, device: "nobodys"))])
    let part = try #require(try world.reader.notification("n-1", limit: 5))
    #expect(part.attempts.count == 5 && part.otherReceipts.isEmpty)
    #expect(part.attempts.allSatisfy { $0.receipts.count == 1 })
    let all = try #require(try world.reader.notification("n-1"))
    #expect(all.otherReceipts.map(\.deviceID) == ["nobodys"])
    #expect(try world.reader.notification("n-1", user: "u-3")?.otherReceipts == [])
  }
}

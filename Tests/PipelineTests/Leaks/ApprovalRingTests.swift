import Gate
import Testing

@testable import Pipeline

/// The ring against an array, through random histories.
@Suite struct ApprovalRingTests {
  private static func approval(_ number: Int) -> ApprovalRing.Approval {
    ApprovalRing.Approval(
      user: UInt64(number), category: Category.allCases[number % 4], decidedAtMs: Int64(number),
      offset: Int64(number) * 3)
  }

  private static func numbers(_ ring: borrowing ApprovalRing) -> [Int] {
    var found: [Int] = []
    ring.reversed { approval in
      #expect(approval.user == UInt64(approval.decidedAtMs))
      #expect(approval.offset == approval.decidedAtMs * 3)
      #expect(approval.category == Category.allCases[Int(approval.decidedAtMs) % 4])
      found.append(Int(approval.decidedAtMs))
      return true
    }
    return found.reversed()
  }

  @Test(arguments: UInt64(1)...40) func againstAnArray(seed: UInt64) {
    var random = Xorshift(seed: seed)
    let capacity = 1 << Int.random(in: 0...4, using: &random)
    var ring = ApprovalRing(capacity: capacity)
    var committed: [Int] = []
    var open: [Int] = []
    // What was written over is gone, also where the transaction that did it is undone.
    var gone = 0
    var isWhole = true
    var number = 0
    for _ in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        committed += open
        open = []
        ring.commit()
      case 1:
        open = []
        gone = min(gone, committed.count)
        ring.rollback()
      default:
        open.append(number)
        ring.append(Self.approval(number))
        number += 1
      }
      gone = max(gone, committed.count + open.count - capacity)
      if gone > 0 { isWhole = false }
      let left = Array((committed + open).dropFirst(gone))
      #expect(Self.numbers(ring) == left)
      let knownSince = isWhole ? Int64.min : left.first.map { Int64($0) } ?? .max
      #expect(ring.knownSinceMs == knownSince)
    }
  }

  @Test func stopsWhereItIsTold() {
    var ring = ApprovalRing(capacity: 8)
    for number in 0..<5 { ring.append(Self.approval(number)) }
    var seen = 0
    ring.reversed { approval in
      seen += 1
      return approval.decidedAtMs > 3
    }
    #expect(seen == 2)
  }
}

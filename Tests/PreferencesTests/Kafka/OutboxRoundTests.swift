import Testing

@testable import Preferences

/// What is written at once, and what stays when not all of it was taken.
@Suite struct OutboxRoundTests {
  /// `u=1` is a document of user u, `u-` a null value; sequences count from 10, instants from 100.
  private func rows(_ texts: String...) -> [OutboxTable.Row] {
    texts.enumerated().map { index, text in
      OutboxTable.Row(
        sequence: Int64(10 + index), topic: .state, key: String(text.first!),
        value: text.hasSuffix("-") ? nil : text, createdAtMs: Int64(100 + index))
    }
  }

  private func written(_ round: OutboxRound) -> [String] {
    round.written.map { "\(round.rows[$0.index].value ?? "null") \($0.timestampMs)" }
  }

  @Test func theNewestDocumentStandsForThoseBeforeIt() {
    let round = OutboxRound(
      rows("a=1", "b=1", "a=2", "c=1", "a=3"), isNewestEnough: true, refusedKeys: [])
    #expect(written(round) == ["b=1 101", "c=1 103", "a=3 100"])
    #expect(round.done(failed: [], refusedKeys: []) == [10...14])
    // The older ones go when the newer one has gone.
    #expect(round.done(failed: [4], refusedKeys: []) == [11...11, 13...13])
    #expect(round.done(failed: [1], refusedKeys: []) == [10...10, 12...14])
  }

  @Test func aNullValueIsAlwaysWrittenAndNothingGoesWithIt() {
    let round = OutboxRound(
      rows("a=1", "b=1", "a-", "b=2", "a=2", "b=3"), isNewestEnough: true, refusedKeys: [])
    #expect(written(round) == ["null 100", "b=2 101"])
    #expect(round.rows.count == 4)
    #expect(round.done(failed: [2], refusedKeys: []) == [11...11, 13...13])
    let next = OutboxRound(
      rows("a=2", "b=3"), isNewestEnough: true, refusedKeys: [])
    #expect(written(next) == ["a=2 100", "b=3 101"])
  }

  @Test func whereEachRowCountsAllAreWrittenInOrder() {
    let round = OutboxRound(
      rows("a=1", "b=1", "a=2", "b=2"), isNewestEnough: false, refusedKeys: [])
    #expect(written(round) == ["a=1 100", "b=1 101", "a=2 102", "b=2 103"])
    #expect(round.done(failed: [], refusedKeys: []) == [10...13])
    // What was written behind one that failed is written again behind it.
    #expect(round.done(failed: [0], refusedKeys: []) == [11...11, 13...13])
    #expect(round.done(failed: [2], refusedKeys: []) == [10...11, 13...13])
    #expect(round.done(failed: [0, 1, 2, 3], refusedKeys: []) == [])
  }

  @Test func aRefusedKeyWaitsWithAllThatFollows() {
    for isNewestEnough in [true, false] {
      let round = OutboxRound(
        rows("a=1", "b=1", "a-", "a=2"), isNewestEnough: isNewestEnough, refusedKeys: ["a"])
      #expect(written(round) == ["b=1 101"])
      #expect(round.done(failed: [], refusedKeys: ["a"]) == [11...11])
      #expect(round.done(failed: [1], refusedKeys: ["a"]) == [])
    }
  }

  /// All rows of up to five, of two users, and all ways in which they can fail: written until everything
  /// has gone, the last record of each user is the last row, and each null value was there.
  @Test(arguments: [true, false]) func whateverFailsTheLastRecordIsTheLastRow(
    _ isNewestEnough: Bool
  ) {
    let kinds = ["a=", "a-", "b=", "b-"]
    for count in 1...4 {
      for code in 0..<1 << (2 * count) {
        let all = (0..<count).map { index in
          let kind = kinds[code >> (2 * index) & 3]
          return OutboxTable.Row(
            sequence: Int64(index), topic: .state, key: String(kind.first!),
            value: kind.hasSuffix("-") ? nil : "\(index)", createdAtMs: 0)
        }
        for failing in 0..<1 << count {
          run(all, failing: failing, isNewestEnough)
        }
      }
    }
  }

  /// Each row fails the first time it is written where its bit is set.
  private func run(_ all: [OutboxTable.Row], failing: Int, _ isNewestEnough: Bool) {
    var left = all
    var failing = failing
    var topic: [OutboxTable.Row] = []
    while !left.isEmpty {
      let round = OutboxRound(left, isNewestEnough: isNewestEnough, refusedKeys: [])
      var failed: Set<Int> = []
      for (index, _) in round.written {
        let bit = 1 << Int(round.rows[index].sequence)
        if failing & bit != 0 {
          failing &= ~bit
          failed.insert(index)
        } else {
          topic.append(round.rows[index])
        }
      }
      let done = round.done(failed: failed, refusedKeys: [])
      left.removeAll { row in done.contains { $0.contains(row.sequence) } }
    }
    for key in ["a", "b"] {
      let wanted = all.filter { $0.key == key }
      let found = topic.filter { $0.key == key }
      #expect(found.last == wanted.last)
      #expect(wanted.allSatisfy { $0.value != nil || found.contains($0) })
      guard isNewestEnough else { continue }
      // No document ever stands behind a newer one.
      #expect(found.map(\.sequence) == found.map(\.sequence).sorted())
    }
  }
}

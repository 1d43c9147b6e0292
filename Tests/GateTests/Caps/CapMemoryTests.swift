import Testing

@testable import Gate

/// What counting takes, and what happens where there is no room.
@Suite struct CapMemoryTests {
  typealias Lane = DuplicateTests.Lane
  static let nowMs = DuplicateTests.nowMs
  static let hour = CapSupport.hourMs

  /// What is over is forgotten by and by, and never asked for again.
  @Test func memoryIsGivenBack() {
    let documents = (0..<500).map {
      CapTests.oneDevice.replacing(#""user_id":"u""#, with: #""user_id":"u\#($0)""#)
    }
    let lane = CapTests.lane(documents, CapSupport.sliding(50, seconds: 3600))
    func round(_ round: Int, _ nowMs: Int64) {
      for user in 0..<500 {
        let value = #"{"notification_id":"\#(round)","user_id":"u\#(user)","category":"social"}"#
        _ = lane.verdicts([Array(value.utf8)], at: nowMs)
      }
      lane.state.commit(nowMs: nowMs)
    }
    for i in 0..<3 { round(i, Self.nowMs + Int64(i)) }
    #expect(lane.state.cappedCount == 1500)
    let bytes = lane.state.capMemoryBytes
    for i in 3..<12 {
      let nowMs = Self.nowMs + Int64(i / 3) * 97 * Self.hour + Int64(i)
      for _ in 0..<10 { lane.state.commit(nowMs: nowMs) }
      round(i, nowMs)
    }
    #expect(lane.state.cappedCount == 1500)
    #expect(lane.state.capMemoryBytes == bytes)
  }

  /// What the policy's documentation states of a million.
  @Test func bytesOfANotification() {
    let counters = CapCounters(
      CapCounters.Limits(entriesMax: 1_000_000, memoryMs: Self.hour, windowMs: Self.hour))
    let users = 200_000
    for user in 0..<UInt64(users) {
      let hash = SeenHash(first: user &* 0x9E37_79B9_7F4A_7C15, second: user)
      let ask = CapAsk(counter: hash, id: user)
      #expect(counters.approve(ask, device: 1, nowMs: Self.nowMs))
    }
    counters.commit(nowMs: Self.nowMs)
    #expect(counters.count == users)
    #expect((75 * users...86 * users).contains(counters.memoryBytes), "\(counters.memoryBytes)")
    for user in 0..<UInt64(users) {
      let hash = SeenHash(first: user &* 0x9E37_79B9_7F4A_7C15, second: user)
      let ask = CapAsk(counter: hash, id: user)
      let answered = counters.answer(ask, device: 1, isAccepted: true, nowMs: Self.nowMs)
      #expect(answered == .noted)
    }
  }

  /// Past the bound nobody is kept from what they may get, and it is told.
  @Test func pastTheBoundApprovalsAreNotCounted() {
    let policy = CapSupport.policy(
      social: "[\(CapSupport.sliding(1, seconds: 3600))]",
      edit: { $0.replacing(#""caps_entries_max": 5000000"#, with: #""caps_entries_max": 1000"#) })
    let documents = (0..<1001).map {
      CapTests.oneDevice.replacing(#""user_id":"u""#, with: #""user_id":"u\#($0)""#)
    }
    let lane = Lane(documents, policy: policy)
    func ask(_ id: String, _ user: Int, _ nowMs: Int64) -> [String] {
      let value = #"{"notification_id":"\#(id)","user_id":"u\#(user)","category":"social"}"#
      return lane.verdicts([Array(value.utf8)], at: nowMs)
    }
    for user in 0..<1001 { #expect(ask("1", user, Self.nowMs) == ["approved ok"]) }
    lane.state.commit(nowMs: Self.nowMs)
    #expect(lane.state.cappedCount == 1000 && lane.state.capsUncounted == 1)
    #expect(ask("2", 0, Self.nowMs) == [CapTests.capped])
    #expect(ask("2", 1000, Self.nowMs) == ["approved ok"])
    // What counts nowhere any more makes room, though its ids would still be known.
    for _ in 0..<10 { lane.state.commit(nowMs: Self.nowMs + Self.hour) }
    #expect(ask("3", 1000, Self.nowMs + Self.hour) == ["approved ok"])
    #expect(ask("4", 1000, Self.nowMs + Self.hour) == [CapTests.capped])
  }
}

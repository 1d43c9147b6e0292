import Testing

@testable import Gate

/// What receipts do to the counts, and what cannot be one.
@Suite struct RefunderTests {
  typealias Lane = DuplicateTests.Lane
  static let nowMs = DuplicateTests.nowMs

  static func receipt(_ id: String, _ device: String, _ status: String) -> String {
    #"{"notification_id":"\#(id)","device_id":"\#(device)","user_id":"u","provider":"apns","status":"\#(status)","code":"x","at":"2026-03-09T22:30:00Z"}"#
  }

  static func lane(_ count: Int = 1) -> (Lane, Refunder) {
    let lane = CapTests.lane([CapTests.twoDevices], CapSupport.daily(count))
    return (lane, Refunder(state: lane.state, partitionCount: 1, seed: 1))
  }

  static func take(_ refunder: Refunder, _ receipts: String...) {
    for receipt in receipts { CapModelTests.take(receipt, "u", refunder, nowMs) }
  }

  static let both = ["approved ok", "approved ok"]
  static let neither = [CapTests.capped, CapTests.capped]

  @Test func rejectedOnEveryDeviceIsRefundedOnce() {
    let (lane, refunder) = Self.lane()
    #expect(lane.verdicts([CapTests.candidate("1")]) == Self.both)
    Self.take(refunder, Self.receipt("1", "a", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    // The same again is the same device.
    Self.take(refunder, Self.receipt("1", "a", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    Self.take(refunder, Self.receipt("1", "b", "rejected"))
    #expect(refunder.tally.refunded == 1)
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.both)
    Self.take(
      refunder, Self.receipt("1", "a", "rejected"), Self.receipt("1", "b", "rejected"))
    #expect(refunder.tally.refunded == 1)
    #expect(lane.verdicts([CapTests.candidate("3")]) == Self.neither)
  }

  /// A serializer that writes every member.
  @Test func nullMembersCountAsAbsent() {
    let (lane, refunder) = Self.lane()
    _ = lane.verdicts([CapTests.candidate("1")])
    for device in ["a", "b"] {
      Self.take(
        refunder,
        #"{"notification_id":"1","device_id":"\#(device)","user_id":"u","provider":"fcm","status":"rejected","code":null,"event":null,"via":null,"at":1773095400000}"#
      )
    }
    #expect(refunder.tally.refunded == 1 && refunder.tally.unreadable == 0)
    Self.take(
      refunder,
      #"{"notification_id":"1","device_id":"a","user_id":"u","status":null,"event":"user_observed","at":1773095400000}"#
    )
    #expect(refunder.tally.unreadable == 0)
  }

  @Test func acceptedOnOneDeviceIsCountedForGood() {
    let (lane, refunder) = Self.lane()
    _ = lane.verdicts([CapTests.candidate("1")])
    Self.take(
      refunder, Self.receipt("1", "a", "rejected"), Self.receipt("1", "b", "accepted"),
      Self.receipt("1", "b", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    #expect(
      refunder.tally
        == {
          var tally = ReceiptTally()
          tally.read = 3
          return tally
        }())
  }

  /// After its refund it may go to another device: that counts, and is not refunded again.
  @Test func afterARefundItCountsAgainAndForGood() {
    let (lane, refunder) = Self.lane()
    let (a, b) = (#","device_id":"a""#, #","device_id":"b""#)
    #expect(lane.verdicts([CapTests.candidate("1", a)]) == ["approved ok"])
    Self.take(refunder, Self.receipt("1", "a", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("1", b)]) == ["approved ok"])
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    Self.take(refunder, Self.receipt("1", "b", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    #expect(refunder.tally.refunded == 1)
  }

  /// Refunded, it stands in line like any other for its next device.
  @Test func afterARefundItIsCappedLikeAnyOther() {
    let (lane, refunder) = Self.lane()
    #expect(
      lane.verdicts([CapTests.candidate("1", #","device_id":"a""#)]) == ["approved ok"])
    Self.take(refunder, Self.receipt("1", "a", "rejected"))
    #expect(lane.verdicts([CapTests.candidate("2")]) == Self.both)
    #expect(
      lane.verdicts([CapTests.candidate("1", #","device_id":"b""#)]) == [CapTests.capped])
  }

  @Test func whatConcernsNothingCountedChangesNothing() {
    let (lane, refunder) = Self.lane()
    _ = lane.verdicts([CapTests.candidate("1")])
    for receipt in [
      Self.receipt("2", "a", "rejected"), Self.receipt("1", "c", "rejected"),
      #"{"notification_id":"1","device_id":"a","user_id":"u","event":"user_observed","via":"tap","at":1773095400000}"#,
    ] {
      Self.take(refunder, receipt)
      #expect(refunder.stateRecords.isEmpty)
    }
    #expect(refunder.tally.read == 3 && refunder.tally.unreadable == 0)
  }

  @Test(arguments: [
    "", "{", "[]", "null", "7", with("", ""), with(#""status":"lost""#),
    with(#""status":7"#), with(#""status":null,"event":null"#),
    with(#""status":"rejected","event":"user_observed""#),
    with(#""status":"rejected""#, #""notification_id":"","device_id":"a","user_id":"u""#),
    with(#""status":"rejected""#, #""device_id":"a","user_id":"u""#),
    with(#""status":"rejected""#, #""notification_id":"1","user_id":"u""#),
    with(#""status":"rejected""#, #""notification_id":"1","device_id":"a""#),
    with(#""status":"rejected""#) + " x", with(#""status":"rejected","status":"rejected""#),
    with(
      #""status":"rejected""#,
      #""notification_id":"1","notification_id":"1","device_id":"a","user_id":"u""#),
    with(#""status":"rejected""#, provider: nil), with(#""status":"rejected""#, provider: "null"),
    with(#""status":"rejected""#, provider: #""sms""#),
    with(#""status":"rejected""#, provider: "7"),
    with(#""event":"user_observed","via":"tap""#),
    with(#""status":"rejected""#, at: nil), with(#""status":"rejected""#, at: "null"),
    with(#""status":"rejected""#, at: "1"), with(#""status":"rejected""#, at: #""now""#),
    with(#""event":"user_observed","via":"tap""#, provider: nil, at: #""2026-02-30T00:00:00Z""#),
  ]) func isNoReceipt(_ text: String) {
    let (lane, refunder) = Self.lane()
    _ = lane.verdicts([CapTests.candidate("1")])
    Self.take(refunder, text)
    #expect(refunder.tally.unreadable == 1, "\(text)")
    #expect(refunder.stateRecords.isEmpty)
  }

  /// A receipt with these members; nil: without that one. As it is written here it would be one.
  static func with(
    _ answer: String, _ ids: String = #""notification_id":"1","device_id":"a","user_id":"u""#,
    provider: String? = #""apns""#, at: String? = #""2026-03-09T22:30:00Z""#
  ) -> String {
    let members = [
      ids, answer, provider.map { #""provider":\#($0)"# } ?? "", at.map { #""at":\#($0)"# } ?? "",
    ]
    return "{" + members.filter { !$0.isEmpty }.joined(separator: ",") + "}"
  }

  /// What the refused ones above differ from.
  @Test(arguments: [
    with(#""status":"rejected""#), with(#""status":"accepted""#, provider: #""fcm""#),
    with(#""status":"rejected","event":null"#, at: "1773095400000"),
    with(#""event":"user_observed","via":"tap""#, provider: nil),
    with(#""event":"user_observed","via":"tap","status":null"#, provider: "null"),
  ]) func isAReceipt(_ text: String) {
    let (_, refunder) = Self.lane()
    Self.take(refunder, text)
    #expect(refunder.tally.unreadable == 0, "\(text)")
  }

  @Test func underAnotherKeyOrWhereItDoesNotLead() {
    let lane = Lane(
      [CapTests.oneDevice], policy: CapSupport.policy(social: "[\(CapSupport.daily(1))]"),
      partitions: [0, 1, 2, 3])
    let refunder = Refunder(state: lane.state, partitionCount: 4, seed: 1)
    let home = withBytes("u") { Partitioner.partition(forKey: $0, count: 4) }
    _ = lane.verdicts([CapTests.candidate("1")], partition: home)
    let text = Self.receipt("1", "d", "rejected")
    for (key, partition) in [("v", home), ("u", (home + 1) % 4), (nil, home)] as [(String?, Int32)]
    {
      withBytes(text) { value in
        withBytes(key ?? "") { bytes in
          let record = InputRecord(
            partition: partition, offset: 0, timestampMs: 0, key: key == nil ? nil : bytes,
            value: value, handle: nil)
          withUnsafePointer(to: record) {
            refunder.take(UnsafeBufferPointer(start: $0, count: 1), nowMs: Self.nowMs)
          }
        }
      }
    }
    #expect(refunder.tally.misplaced == 3 && refunder.tally.refunded == 0)
    #expect(lane.verdicts([CapTests.candidate("2")], partition: home) == [CapTests.capped])
  }

  /// What an abort takes back comes again, and is refunded then.
  @Test func anAbortTakesARefundBack() {
    let (lane, refunder) = Self.lane()
    _ = lane.verdicts([CapTests.candidate("1", #","device_id":"a""#)])
    lane.state.commit(nowMs: Self.nowMs)
    for _ in 0..<3 {
      Self.take(refunder, Self.receipt("1", "a", "rejected"))
      #expect(lane.verdicts([CapTests.candidate("2")]) == Self.both)
      lane.state.rollback()
      #expect(lane.verdicts([CapTests.candidate("2")]) == Self.neither)
    }
  }
}

import Foundation
import Testing

@testable import sendgate

private func approvalText(
  notification: String = "n-1", user: String = "u-1", device: String = "d-1",
  _ changes: [String: String] = [:]
) -> String {
  var members = [
    "outcome": "\"approved\"", "notification_id": "\"\(notification)\"", "user_id": "\"\(user)\"",
    "device_id": "\"\(device)\"", "platform": "\"ios\"", "interruption": "\"active\"",
    "critical": "false", "expires_at": "null", "send_before": "null", "collapse_key": "null",
    "unsubscribe_url": "null", "sms_fallback": "\"forbidden\"",
    "notification": "{\"user_id\":\"somebody-else\"}",
  ]
  for (name, value) in changes { members[name] = value }
  return "{" + members.map { "\"\($0.key)\":\($0.value)" }.sorted().joined(separator: ",") + "}"
}

private func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
  Array(text.utf8).withUnsafeBytes(body)
}

private func readApproval(_ text: String) -> Approval? {
  var records = DispatchRecords()
  return withBytes(text) { records.approval($0) }
}

private func provider(
  seed: UInt64 = 1, accepted: Int? = nil, unregistered: Int? = nil, rejected: Int? = nil,
  observed: Int = 0
) throws -> StubProvider {
  StubProvider(
    seed: seed,
    shares: try StubProvider.Shares(
      accepted: accepted, unregistered: unregistered, rejected: rejected),
    observed: observed)
}

private func id(_ number: Int) -> SendID {
  SendID(userID: "u-\(number % 7)", notificationID: "n-\(number)", deviceID: "d-1")
}

@Test func anApprovalIsReadAsItIsWritten() throws {
  let approval = try #require(
    readApproval(
      approvalText([
        "platform": "\"android\"", "interruption": "\"time-sensitive\"",
        "expires_at": "\"2026-03-09T22:30:00.500Z\"", "send_before": "\"2026-03-09T22:00:00.000Z\"",
        "collapse_key": "\"k\\u0022\"", "sms_fallback": "\"allowed\"",
        "unsubscribe_url": "\"https://example.com/u\"",
      ])))
  #expect(
    approval.userID == "u-1" && approval.notificationID == "n-1" && approval.deviceID == "d-1")
  #expect(approval.platform == .android && approval.interruption == .timeSensitive)
  #expect(approval.expiresAtMs == 1_773_095_400_500)
  #expect(approval.sendBeforeMs == 1_773_093_600_000)
  #expect(approval.goodUntilMs == 1_773_093_600_000)
  #expect(approval.collapseKey == "k\"" && approval.allowsSMS)
  #expect(approval.unsubscribeURL == "https://example.com/u")
  let plain = try #require(readApproval(approvalText()))
  #expect(plain.goodUntilMs == nil && plain.collapseKey == nil && !plain.allowsSMS)
}

@Test(arguments: [
  "", "null", "[]", "{", "{}", approvalText(["outcome": "\"dropped\""]),
  approvalText(["user_id": "null"]), approvalText(["device_id": "7"]),
  approvalText(["platform": "\"pager\""]), approvalText(["interruption": "\"loud\""]),
  // A limit that cannot be read is no permission to send whenever.
  approvalText(["send_before": "\"soon\""]), approvalText(["expires_at": "\"\""]),
  approvalText() + "x",
])
func whatIsNoApprovalIsNotSent(_ text: String) {
  #expect(readApproval(text) == nil)
}

@Test func aDeepCandidateInAnApprovalIsReadAllTheSame() {
  // The deepest candidate there may be is 64 levels; the approval adds one.
  func nested(_ levels: Int) -> String {
    String(repeating: "{\"a\":", count: levels) + "1" + String(repeating: "}", count: levels)
  }
  #expect(readApproval(approvalText(["notification": nested(64)])) != nil)
  #expect(readApproval(approvalText(["notification": nested(65)])) == nil)
}

@Test(arguments: ["allowed", "forbidden", "ALLOWED", ""])
func anSMSNeedsTheOneWord(_ word: String) throws {
  for (shares, isRefused) in [((100, 0, 0), false), ((0, 100, 0), true), ((0, 0, 100), true)] {
    var dispatcher = StubDispatcher(
      try provider(accepted: shares.0, unregistered: shares.1, rejected: shares.2))
    let text = approvalText(["sms_fallback": "\"\(word)\""])
    let output = withBytes(text) { dispatcher.dispatch($0, of: 0, nowMs: 0) }
    let texts = output?.calls.filter { $0.contains("\"provider\":\"sms\"") } ?? []
    #expect(texts.count == (isRefused && word == "allowed" ? 1 : 0))
  }
}

@Test func theLimitIsTheFirstInstantAtWhichNothingIsSent() throws {
  let limitMs: Int64 = 1_773_093_600_000
  let text = approvalText(["send_before": "\"2026-03-09T22:00:00.000Z\""])
  for (nowMs, isSent) in [(limitMs - 1, true), (limitMs, false), (limitMs + 1, false)] {
    var dispatcher = StubDispatcher(try provider(accepted: 100))
    let output = withBytes(text) { dispatcher.dispatch($0, of: 0, nowMs: nowMs) }
    #expect((output != nil) == isSent)
    #expect(dispatcher.counts.late == (isSent ? 0 : 1))
  }
}

@Test func aPairIsSentOnceAndARememberedOneNever() throws {
  var dispatcher = StubDispatcher(try provider(accepted: 100, observed: 100))
  func dispatch(_ text: String, of partition: Int32 = 0) -> StubDispatcher.Output? {
    withBytes(text) { dispatcher.dispatch($0, of: partition, nowMs: 1_773_093_600_000) }
  }
  let first = try #require(dispatch(approvalText()))
  #expect(first.receipts.count == 2 && first.userID == "u-1")
  #expect(dispatch(approvalText()) == nil)
  #expect(dispatch(approvalText(device: "d-2")) != nil)
  #expect(dispatch(approvalText(notification: "n-2")) != nil)
  #expect(dispatch(approvalText(user: "u-2")) != nil)
  #expect(dispatcher.counts.repeated == 1 && dispatcher.counts.accepted == 4)

  // Another process, which knows the receipts alone.
  var successor = StubDispatcher(try provider(accepted: 100))
  successor.begin(0)
  withBytes(first.receipts[1]) { successor.remember($0, of: 0) }
  #expect(withBytes(approvalText()) { successor.dispatch($0, of: 0, nowMs: 0) } != nil)
  successor.forget()
  withBytes(first.receipts[0]) { successor.remember($0, of: 0) }
  #expect(withBytes(approvalText()) { successor.dispatch($0, of: 0, nowMs: 0) } == nil)
}

@Test func receiptsAreByTheContract() throws {
  let approval = try #require(readApproval(approvalText(user: "u \\\" é")))
  let nowMs: Int64 = 1_773_093_600_000
  #expect(
    Receipt.answer(.accepted, to: approval, nowMs: nowMs) == """
      {"notification_id":"n-1","device_id":"d-1","user_id":"u \\" é","provider":"apns",\
      "status":"accepted","code":null,"at":"2026-03-09T22:00:00.000Z"}
      """)
  #expect(
    Receipt.answer(.unregistered(code: "Unregistered"), to: approval, nowMs: nowMs)
      .contains("\"status\":\"rejected\",\"code\":\"Unregistered\""))
  #expect(
    Receipt.observed(.badgeClear, approval, nowMs: nowMs) == """
      {"notification_id":"n-1","device_id":"d-1","user_id":"u \\" é","event":"user_observed",\
      "via":"badge_clear","at":"2026-03-09T22:00:00.000Z"}
      """)
}

@Test func answersFollowTheSharesAndTheSeedAlone() throws {
  let stub = try provider(seed: 3, unregistered: 20, rejected: 10, observed: 40)
  let again = try provider(seed: 3, unregistered: 20, rejected: 10, observed: 40)
  let other = try provider(seed: 4, unregistered: 20, rejected: 10, observed: 40)
  var accepted = 0
  var unregistered = 0
  var observed = 0
  var differing = 0
  for number in 0..<10_000 {
    let answer = stub.answer(to: id(number), on: .ios)
    #expect(answer == again.answer(to: id(number), on: .ios))
    if answer != other.answer(to: id(number), on: .ios) { differing += 1 }
    if answer == .accepted { accepted += 1 }
    if answer == .unregistered(code: "Unregistered") { unregistered += 1 }
    if stub.observation(of: id(number)) != nil { observed += 1 }
  }
  // Five standard deviations of 10,000 draws are at most 250.
  #expect(abs(accepted - 7_000) < 250 && abs(unregistered - 2_000) < 250)
  #expect(abs(observed - 4_000) < 250)
  #expect(differing > 3_000)
}

@Test func everyShareHasItsPlace() throws {
  for platform in [Approval.Platform.ios, .android] {
    for number in 0..<200 {
      #expect(try provider(accepted: 100).answer(to: id(number), on: platform) == .accepted)
      let gone = try provider(unregistered: 100).answer(to: id(number), on: platform)
      #expect(gone.code == (platform == .ios ? "Unregistered" : "UNREGISTERED"))
      if case .rejected = try provider(rejected: 100).answer(to: id(number), on: platform) {
        continue
      }
      Issue.record("refused sends must be rejected")
    }
  }
}

@Test func sharesThatDoNotAddUpAreRefused() throws {
  #expect(try StubProvider.Shares(accepted: nil, unregistered: nil, rejected: nil) == .usual)
  let rest = try StubProvider.Shares(accepted: nil, unregistered: 30, rejected: 5)
  #expect(rest.accepted == 65)
  for (accepted, unregistered, rejected) in [(50, nil, nil), (90, 20, nil), (nil, 60, 60)]
    as [(Int?, Int?, Int?)]
  {
    #expect(throws: CommandFailure.self) {
      try StubProvider.Shares(
        accepted: accepted, unregistered: unregistered, rejected: rejected)
    }
  }
}

@Test func anIDIsAUUIDOfItsOwn() {
  var seen: Set<String> = []
  for number in 0..<1_000 { seen.insert(id(number).uuid) }
  // What NUL joins does not run together.
  seen.insert(SendID(userID: "a", notificationID: "bc", deviceID: "d").uuid)
  seen.insert(SendID(userID: "ab", notificationID: "c", deviceID: "d").uuid)
  seen.insert(SendID(userID: "ab", notificationID: "c", deviceID: nil).uuid)
  #expect(seen.count == 1_003)
  let form = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
  for uuid in seen { #expect(uuid.wholeMatch(of: form) != nil, "\(uuid)") }
}

@Test func aCallEscapesWhatItQuotes() throws {
  let text = approvalText(user: "u\\\\1", ["collapse_key": "\"\u{85}\\n\\\"\""])
  let approval = try #require(readApproval(text))
  let call = ProviderCall.push(approval, .accepted, nowMs: 0)
  #expect(call.contains("\"user_id\":\"u\\\\1\""))
  #expect(call.contains("\"apns-collapse-id\":\"\\u0085\\u000a\\\"\""))
}

@Test func aTornLineIsEnded() throws {
  try withFolder { folder in
    let path = "\(folder)/calls"
    for (before, after) in [("", "x\n"), ("a\n", "a\nx\n"), ("a\n{\"b", "a\n{\"b\nx\n")] {
      try before.write(toFile: path, atomically: true, encoding: .utf8)
      let log = try CallLog(path: path)
      log.append("x")
      log.flush()
      #expect(log.failure == nil)
      #expect(try readText(path) == after)
    }
    let error = #expect(throws: CommandFailure.self) { try CallLog(path: "\(folder)/no/calls") }
    #expect(error?.exitCode == ExitCode.cannotCreate)
  }
}

@Test func whatTheDispatcherCountsIsASummary() {
  var counts = StubDispatcher.Counts()
  counts.approvals = 2
  counts.late = 1
  counts.add(counts)
  #expect(
    DispatchCommand.summary(counts) == """
      {"approvals":4,"accepted":0,"unregistered":0,"rejected":0,"observed":0,"sms":0,"late":2,\
      "repeated":0,"unreadable":0}
      """)
}

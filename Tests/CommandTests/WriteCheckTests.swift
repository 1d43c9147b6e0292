import Gate
import Pipeline
import Testing

@testable import sendgate

private func verdict(candidate text: String, _ lane: Lane = .ordinary) -> String {
  var check = CandidateCheck(lane: lane, policy: .builtIn)
  var text = text
  return text.withUTF8 { words(check.check(UnsafeRawBufferPointer($0))) }
}

private func words(_ verdict: WriteVerdict) -> String {
  switch verdict {
  case .good(let userID): "good \(String(decoding: userID, as: UTF8.self))"
  case .refused(let reason): reason
  }
}

@Test(arguments: [
  (#"{"notification_id":"n","user_id":"u-1","category":"social"}"#, "good u-1"),
  (#"{"notification_id":"n","user_id":"\u00fc","category":"social"}"#, "good ü"),
  // Readable, and dropped with a reason by the gate: not refused here.
  (#"{"notification_id":"n","user_id":"u","category":"no-such"}"#, "good u"),
  (#"{"notification_id":"n","category":"social"}"#, "missing_member (user_id)"),
  (#"{"notification_id":"","user_id":"u","category":"social"}"#, "malformed_id (notification_id)"),
  (#"{"notification_id":"n","user_id":7,"category":"social"}"#, "wrong_type (user_id)"),
  (#"{"notification_id":"n","user_id":"u","category":"social"} x"#, "malformed_json"),
  (#"{"user_id":"u","user_id":"v"}"#, "repeated_member"),
  ("[]", "not_an_object"),
  ("", "malformed_json"),
])
func candidatesAreHeldAgainstTheFirstRow(_ text: String, _ expected: String) {
  let found = verdict(candidate: text)
  #expect(found == expected)
}

@Test func onlySecurityGoesToTheSecurityTopic() {
  let social = #"{"notification_id":"n","user_id":"u","category":"social"}"#
  let security = #"{"notification_id":"n","user_id":"u","category":"security"}"#
  #expect(verdict(candidate: social, .security) == "category_not_for_topic")
  #expect(verdict(candidate: security, .security) == "good u")
  #expect(verdict(candidate: security, .ordinary) == "good u")
}

@Test func documentsAreHeldToMoreThanTheGatesReading() throws {
  let zones = ZonePublisher(epochs: Epochs())
  try TimeZoneDatabase().load(into: zones)
  var check = DocumentCheck(zones: zones)
  func document(_ account: String, _ device: String = "") -> String {
    #"{"user_id":"u-1","version":1,"account":{\#(account)},"devices":[{"device_id":"d","#
      + #""platform":"ios","os_permission":"granted","token_status":"active"\#(device)}]}"#
  }
  let off = #""security":{"state":"user-off","at":1767225600000,"source":"#
  for (text, expected) in [
    (document(""), "good u-1"),
    (document(#""timezone":"Europe/Berlin""#, #","timezone":"US/Eastern""#), "good u-1"),
    (
      document(#""timezone":"Europe/Berlim""#),
      "timezone Europe/Berlim is not in the tz database; did you mean Europe/Berlin?"
    ),
    (document("", #","timezone":"UTC+8""#), "timezone UTC+8 is not in the tz database"),
    (document("", #","timezone":7"#), "timezone is no string"),
    (
      document(#""quiet_hours":{"start":"22:00","end":"7:00"}"#),
      "quiet_hours wants start and end as HH:MM, and days as mon to sun"
    ),
    (
      document(#""categories":{\#(off)"in_app_settings"}}"#),
      "security can be switched off by admin_override alone"
    ),
    (document(#""categories":{\#(off)"admin_override"}}"#), "good u-1"),
    (
      document(#""categories":{"social":{"state":"off"}}"#),
      "the document has a choice that is not default, user-on or user-off"
    ),
    (
      document(#""categories":{"marketting":{"state":"user-off"}}"#),
      "categories and muted_subtypes want transactional, security, social or marketing, spelt so"
    ),
    (
      document("", #","muted_subtypes":{"Social":["like"]}"#),
      "categories and muted_subtypes want transactional, security, social or marketing, spelt so"
    ),
    (
      document(#""categories":{"social":{"state":"user-on","at":"2025-13-01T00:00:00Z"}}"#),
      "at wants an instant such as 2025-10-01T09:00:00Z, or milliseconds, from 2000 to 2200"
    ),
    (
      document(#""sms":{"state":"user-on","at":true,"source":"in_app_settings"}"#),
      "at wants an instant such as 2025-10-01T09:00:00Z, or milliseconds, from 2000 to 2200"
    ),
    (
      document(#""categories":{"social":{"state":"user-on","source":"in_app"}}"#),
      "source wants in_app_settings, os_settings_sync, unsubscribe_link or admin_override"
    ),
    (
      document("", #","region":"Germany""#),
      "region wants an ISO 3166-1 alpha-2 code in upper case, or null"
    ),
    (
      document("", #","region":7"#),
      "region wants an ISO 3166-1 alpha-2 code in upper case, or null"
    ),
    (
      document("", #","region":"de""#),
      "region wants an ISO 3166-1 alpha-2 code in upper case, or null"
    ),
    (document("", #","region":null"#), "good u-1"), (document("", #","region":"UK""#), "good u-1"),
    (document("", #","region":"XK""#), "good u-1"),
    (
      document(
        #""categories":{"social":{"state":"user-on","at":null,"source":null},"marketing":null}"#),
      "good u-1"
    ),
    (#"{"version":1}"#, "the document has no user_id"),
    ("", "the document is not one JSON object"),
  ] {
    var text = text
    let found = text.withUTF8 { words(check.check(UnsafeRawBufferPointer($0))) }
    #expect(found == expected)
  }
}

/// What is generated is what `publish` takes, or the demo would stop in the middle.
@Test func everythingGeneratedMayBeWritten() throws {
  try withFolder { folder in
    let path = "\(repositoryRoot)/deploy/places.tsv"
    let workload = Workload(
      users: 3000, candidates: 3000, seed: 5, startMs: 1_773_014_400_000, spanSeconds: 60,
      hostile: 0,
      places: try Places(table: FileIO.read(path, bytesMax: Places.bytesMax), name: path))
    try GenerateCommand.write(workload, to: folder)
    let zones = ZonePublisher(epochs: Epochs())
    try TimeZoneDatabase().load(into: zones)
    var documents = DocumentCheck(zones: zones)
    var ordinary = CandidateCheck(lane: .ordinary, policy: .builtIn)
    var security = CandidateCheck(lane: .security, policy: .builtIn)
    var refused: [String] = []
    func note(_ verdict: WriteVerdict) {
      if case .refused(let reason) = verdict { refused.append(reason) }
    }
    try LineReader.forEachLine(of: "\(folder)/preferences.jsonl") { note(documents.check($0)) }
    try LineReader.forEachLine(of: "\(folder)/candidates.jsonl") { note(ordinary.check($0)) }
    try LineReader.forEachLine(of: "\(folder)/security.jsonl") { note(security.check($0)) }
    #expect(refused.isEmpty, "\(refused.prefix(3))")
  }
}

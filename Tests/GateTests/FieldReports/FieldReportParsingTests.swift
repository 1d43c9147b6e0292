import Testing

@testable import Gate

/// Group G of the reports from the field: payloads and parsing, through a whole gate.
@Suite struct FieldReportParsingTests {
  private static let nowMs = instant("2026-03-09T15:00:00Z") * 1000

  private func gate(_ users: [String] = ["u-1"]) -> TestGate {
    TestGate(
      documents: users.map {
        documentJSON(["user_id": "\"\($0)\""], device: ["region": #""US""#])
      })
  }

  /// The detail of an invalid candidate, or the reason where it is none.
  private func detail(_ value: [UInt8]) -> String {
    let decided = gate().decide(value, nowMs: Self.nowMs)
    guard decided.count == 1 else { return "\(decided.count) records" }
    return decided[0]["detail"]?.text ?? "\(decided[0].reason.name)"
  }

  private func detail(_ value: String) -> String { detail(Array(value.utf8)) }

  @Test func c099_secondsMillisecondsMicroseconds() {
    for name in ["expires_at", "created_at"] {
      for (value, wanted) in [
        ("1784784205", "malformed_instant"), ("1784784205932", "ok"),
        (#""1784784205932""#, "malformed_instant"), ("1784784205.932", "malformed_instant"),
        ("1784784205932000", "malformed_instant"), ("1.784784205932e12", "malformed_instant"),
        ("-1", "malformed_instant"), ("0", "malformed_instant"),
        ("253402300800", "malformed_instant"),
        ("946684799999", "malformed_instant"), ("7289654400000", "malformed_instant"),
        ("true", "wrong_type"), ("{}", "wrong_type"), ("null", "ok"),
      ] {
        #expect(detail(candidateJSON([name: value])) == wanted, "\(name) \(value)")
      }
    }
    #expect(detail(candidateJSON(["expires_at": "946684800000"])) == "expired")
  }

  @Test func c100_saturatedTimestamps() {
    for (value, wanted) in [
      ("2147483647", "malformed_instant"), (#""2038-01-19T03:14:07Z""#, "ok"),
      (#""2038-01-19T03:14:08Z""#, "ok"), (#""2106-02-07T06:28:16Z""#, "ok"),
      ("2147483647000", "ok"), ("4294967296000", "ok"),
      ("9223372036854775807", "malformed_instant"),
      ("9223372036854775808", "malformed_instant"), ("-9223372036854775808", "malformed_instant"),
    ] {
      #expect(detail(candidateJSON(["created_at": value])) == wanted, "\(value)")
    }
  }

  @Test func c101_offsetsCount() {
    let now = Self.nowMs
    for (text, wanted) in [
      ("2026-03-09T16:00:00+01:00", Reason.expired), ("2026-03-09T16:00:00.001+01:00", .ok),
      ("2026-03-09T15:00:00Z", .expired), ("2026-03-09T15:00:00-01:00", .ok),
      ("2026-03-09T15:00:00", .invalidCandidate), ("2026-03-09T15:00:00+0100", .invalidCandidate),
      ("2026-03-09t15:00:00z", .invalidCandidate),
    ] {
      let decided = gate().decide(
        Array(candidateJSON(["expires_at": "\"\(text)\""]).utf8), nowMs: now)
      #expect(decided[0].reason == wanted, "\(text)")
    }
  }

  /// C102: ids are texts, told apart byte for byte.
  @Test func c102_idsAbove2To53() {
    let both = gate(["9007199254740993"])
    for (id, reason) in [
      ("9007199254740993", Reason.ok), ("9007199254740992", .unknownUser),
      ("9.007199254740993e15", .unknownUser),
    ] {
      let decided = both.decide(
        Array(candidateJSON(["user_id": "\"\(id)\""]).utf8), nowMs: Self.nowMs)[0]
      #expect(decided.reason == reason && decided["user_id"] == .text(id))
    }
    for number in ["9007199254740993", "1e3", "1000.0", "0"] {
      #expect(detail(candidateJSON(["user_id": number])) == "wrong_type")
      #expect(detail(candidateJSON(["notification_id": number])) == "wrong_type")
    }
    let kept = candidateJSON(["payload": #"{"order":9007199254740993,"sum":1.10}"#])
    let decided = gate().decide(Array(kept.utf8), nowMs: Self.nowMs)[0]
    #expect(decided["notification.payload.order"] == .number("9007199254740993"))
    #expect(decided["notification.payload.sum"] == .number("1.10"))
  }

  @Test func c104_invalidBytes() {
    let open = Array(
      #"{"notification_id":"n-1","user_id":"u-1","category":"social","payload":{"t":""#.utf8)
    for bytes: [UInt8] in [
      [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xF0, 0x9F, 0x98],
    ] {
      let value = open + bytes + Array("\"}}".utf8)
      #expect(detail(value) == "malformed_utf8")
      let decided = gate().decide(value, nowMs: Self.nowMs, key: Array("u-1".utf8))[0]
      #expect(decided.key == Array("u-1".utf8))
      #expect(decided["notification_base64"]?.text?.isEmpty == false)
    }
    #expect(
      detail([0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xC3, 0x28, 0x22, 0x7D]) == "malformed_utf8")
    #expect(detail(candidateJSON(["user_id": #""u\u0000""#])) == "malformed_id")
  }

  @Test func c106_repeatedMembers() {
    for value in [
      #"{"category":"marketing","category":"security"}"#,
      candidateJSON([#"c\u0061tegory"#: #""security""#]),
      candidateJSON(["x": #"{"a":{"b":1,"b":2}}"#]),
      candidateJSON(["x": #"[{"marketing":"off","m\u0061rketing":"on"}]"#]),
    ] {
      #expect(detail(value) == "repeated_member", "\(value)")
    }
    let gate = gate()
    gate.apply(documentJSON(account: ["categories": #"{"marketing":null,"m\u0061rketing":null}"#]))
    #expect(
      gate.decide(Array(candidateJSON([:]).utf8), nowMs: Self.nowMs)[0].reason
        == .preferencesUnreadable)
  }

  @Test func c107_deepNesting() {
    #expect(detail(candidateJSON(["x": nested(63, "[", "]")])) == "ok")
    #expect(detail(candidateJSON(["x": nested(64, "[", "]")])) == "too_deep")
    // Within the limit of a record, and far beyond it.
    #expect(detail(candidateJSON(["x": nested(30_000, "[", "]")])) == "too_deep")
    #expect(detail(candidateJSON(["payload": nested(30_000, "[", "]")])) == "too_deep")
    #expect(detail(candidateJSON(["x": nested(250_000, "[", "]")])) == "record_too_large")
    #expect(detail(String(repeating: "[", count: 60_000)) == "too_deep")
    let gate = gate()
    gate.apply(documentJSON(["x": nested(250_000, "[", "]")]))
    #expect(
      gate.decide(Array(candidateJSON([:]).utf8), nowMs: Self.nowMs)[0].reason
        == .preferencesUnreadable)
  }

  /// C110: nothing is cut; a payload is measured in the bytes that were sent.
  @Test func c110_payloadsAreCountedInBytes() {
    let family = "👨‍👩‍👧‍👦"
    let empty = #"{"t":""}"#.utf8.count
    let fits = String(repeating: "x", count: 4_096 - empty)
    #expect(detail(candidateJSON(["payload": #"{"t":"\#(fits)"}"#])) == "ok")
    #expect(detail(candidateJSON(["payload": #"{"t":"\#(fits)x"}"#])) == "payload_too_large")
    let families = (4_096 - empty) / family.utf8.count
    let text = String(repeating: family, count: families)
    #expect(detail(candidateJSON(["payload": #"{"t":"\#(text)"}"#])) == "ok")
    #expect(
      detail(candidateJSON(["payload": #"{"t":"\#(text)\#(family)"}"#])) == "payload_too_large")
    let escaped = String(repeating: #"\ud83d\ude00"#, count: (4_096 - empty) / 12 + 1)
    #expect(detail(candidateJSON(["payload": #"{"t":"\#(escaped)"}"#])) == "payload_too_large")
    #expect(
      detail(candidateJSON(["payload": "{\(String(repeating: " ", count: 4_095))}"]))
        == "payload_too_large")
  }

  @Test func c111_unknownCategories() {
    for name in ["promo2", "", "Marketing", " marketing", "loyalty"] {
      #expect(detail(candidateJSON(["category": "\"\(name)\""])) == "unknown_category", "\(name)")
    }
    #expect(detail(candidateJSON(["category": "null"])) == "missing_member")
    #expect(detail(candidateJSON(["promo2": "{}", "severity": "9"])) == "ok")
  }

  @Test func c112_nullAndMissing() {
    for name in ["notification_id", "user_id", "category"] {
      for value in ["null", "missing"] {
        #expect(detail(candidateJSON([name: value])) == "missing_member")
      }
    }
    #expect(detail(candidateJSON(["user_id": #""""#])) == "malformed_id")
    #expect(detail(candidateJSON(["user_id": #""null""#])) == "unknown_user")
    let none = TestGate(documents: [documentJSON(["devices": "null"])])
    #expect(none.decide(Array(candidateJSON([:]).utf8), nowMs: Self.nowMs)[0].reason == .noDevices)
    let nobody = candidateJSON(["device_id": #""d-1""#])
    #expect(none.decide(Array(nobody.utf8), nowMs: Self.nowMs)[0].reason == .unknownDevice)
  }

  /// C113: keys are compared as bytes, and must lead to their partition.
  @Test func c113_keys() {
    let gate = TestGate(partitionCount: 8, documents: [documentJSON(device: ["region": #""US""#])])
    let value = Array(candidateJSON([:]).utf8)
    func detail(_ key: String?, _ partition: Int32) -> String {
      let decided = gate.decide(
        value, nowMs: Self.nowMs, key: key.map { Array($0.utf8) }, partition: partition)[0]
      return decided["detail"]?.text ?? "\(decided.reason.name)"
    }
    #expect(detail("u-1", 7) == "ok")
    for partition in 0..<7 { #expect(detail("u-1", Int32(partition)) == "partition_mismatch") }
    for key in [nil, "", "U-1", "u-1 ", "u-", "u-2", #""u-1""#] {
      for partition in [0, 7] {
        #expect(detail(key, Int32(partition)) == "key_mismatch", "\(key ?? "nil")")
      }
    }
    let security = TestGate(lane: .security, partitionCount: 8)
    let decided = security.decide(value, nowMs: Self.nowMs)[0]
    #expect(decided["detail"] == .text("category_not_for_topic"))
    // The record goes under the key it came with where its user cannot be read.
    let unread = gate.decide(Array("x".utf8), nowMs: Self.nowMs, key: [1, 0xFF])[0]
    #expect(unread.key == [1, 0xFF])
    #expect(gate.decide(nil, nowMs: Self.nowMs)[0].key == nil)
  }

  /// C134: a record for each device, or one for the candidate; in the order of the input.
  @Test func c134_everythingLeavesARecord() {
    let two = documentJSON(
      [
        "devices": """
        [{"device_id":"a","platform":"ios","os_permission":"denied","token_status":"active"},\
        {"device_id":"b","platform":"android","os_permission":"granted","token_status":"active"}]
        """
      ])
    let gate = TestGate(documents: [two])
    let values: [String?] = [
      nil, "x", candidateJSON([:]), candidateJSON(["user_id": #""stranger""#]),
      candidateJSON(["device_id": #""b""#]), candidateJSON(["device_id": #""c""#]),
      candidateJSON([:]),
    ]
    let decided = gate.decideAll(
      values.map { ($0.map { Array($0.utf8) }, nil, 0) }, nowMs: Self.nowMs)
    #expect(decided.map(\.inputIndex) == [0, 1, 2, 2, 3, 4, 5, 6, 6])
    #expect(
      decided.map { $0["device_id"]?.text }
        == [nil, nil, "a", "b", nil, "b", "c", "a", "b"])
    #expect(decided[2].reason == .osPermissionDenied && decided[3].reason == .ok)
  }
}

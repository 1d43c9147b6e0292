import Testing

@testable import Gate

/// The records as they are written: JSON whatever the ids are, the candidate's bytes unchanged.
@Suite struct RecordEncoderTests {
  private static let now = "2026-03-09T12:00:00Z"
  private static let nowMs = instant(now) * 1000

  private static let hostile: [String] = [
    #"""#, #"\"#, #"\""#, "é", "😀", "漢字", "a\u{2028}b", "</script>", "\u{A0}", "{\"a\":1}", "'",
    String(repeating: "\"", count: 128), String(repeating: "\\", count: 128), "\u{FFFF}", "/",
  ]

  private func quoted(_ text: String) -> String {
    String(decoding: Tree.text(text).json, as: UTF8.self)
  }

  private func document(user: String, device: String) -> String {
    documentJSON(
      ["user_id": quoted(user)], device: ["device_id": quoted(device), "region": #""US""#])
  }

  @Test func hostileIDs() {
    for id in Self.hostile {
      let gate = TestGate(documents: [document(user: id, device: id)])
      let name = String(id.prefix(16))
      let value = candidateJSON([
        "notification_id": quoted(id), "user_id": quoted(id), "subtype": quoted(name),
        "collapse_key": quoted(name), "payload": "{\"t\":\(quoted(id))}",
      ])
      let decided = gate.decide(value, at: Self.now)
      #expect(decided.count == 1 && decided[0].reason == .ok, "\(id)")
      for member in ["notification_id", "user_id", "device_id"] {
        #expect(decided[0][member] == .text(id), "\(member) \(id)")
      }
      #expect(decided[0]["subtype"] == .text(name) && decided[0]["collapse_key"] == .text(name))
      #expect(decided[0].key == Array(id.utf8))
      #expect(decided[0].notificationID == Array(id.utf8))
      #expect(decided[0]["notification"] == (try? StrictParser.parse(value)))
    }
  }

  /// Control characters in what is no id: escaped, every one.
  @Test func controlCharacters() {
    let all = String(String.UnicodeScalarView((0..<32).map { Unicode.Scalar(UInt8($0)) }))
    let gate = TestGate(documents: [documentJSON(device: ["region": #""US""#])])
    let value = candidateJSON([
      "subtype": quoted(all), "collapse_key": quoted(all), "category": quoted(all),
    ])
    let decided = gate.decide(value, at: Self.now)
    #expect(decided[0].reason == .unknownCategory)
    #expect(decided[0]["subtype"] == .text(all) && decided[0]["category"] == .text(all))
  }

  /// White space, order, numbers and escapes of the candidate stay as they were.
  @Test func embeddedByteForByte() {
    let gate = TestGate(documents: [documentJSON(device: ["region": #""US""#])])
    for value in [
      " {\n\t\"payload\" : { \"a\" : 1.0000 , \"a\" : 1E+2 } , \"user_id\":\"\\u0075-1\",\r\n"
        + "\"notification_id\":\"n\", \"category\":\"social\",\"x\":9007199254740993 } \n",
      candidateJSON([:]), candidateJSON(["category": #""loyalty""#]),
      candidateJSON(["critical": "true"]), candidateJSON(["device_id": #""d-9""#]),
      candidateJSON(["user_id": #""stranger""#]),
    ] {
      let decided = gate.decide(value, at: Self.now)
      #expect(decided.count == 1)
      let tail = Array(",\"notification\":\(value)}".utf8)
      #expect(Array(decided[0].value.suffix(tail.count)) == tail, "\(value)")
    }
  }

  /// One record of each outcome, member by member: names and their order are a contract.
  @Test func members() {
    let window = #"{"start":"22:00","end":"08:00","days":["mon","sun"]}"#
    let gate = TestGate(documents: [
      documentJSON(
        account: ["timezone": #""Europe/Berlin""#, "quiet_hours": window],
        device: ["region": #""DE""#])
    ])
    let common = [
      "outcome", "reason", "blocked_by", "notification_id", "user_id", "device_id", "category",
      "subtype", "decided_at", "policy_version", "preference_version", "preference_offset",
      "tzdb_version", "gate_version", "evidence",
    ]
    func names(_ decided: Decided) -> [String] {
      guard case .object(let members) = decided.tree else { return [] }
      return members.map { String(decoding: $0.name, as: UTF8.self) }
    }
    let approved = gate.decide(candidateJSON([:]), at: Self.now)[0]
    #expect(
      names(approved) == common + [
        "platform", "interruption", "critical", "expires_at", "send_before", "collapse_key",
        "unsubscribe_url", "sms_fallback", "notification",
      ])
    #expect(approved["send_before"] == .text("2026-03-09T21:00:00.000Z"))
    #expect(approved["decided_at"] == .text("2026-03-09T12:00:00.000Z"))
    #expect(approved["tzdb_version"] == .text(SystemZones.version))
    #expect(approved["preference_version"] == .number("1"))
    let night = "2026-03-09T23:30:00Z"
    let deferred = gate.decide(candidateJSON(["category": #""transactional""#]), at: night)[0]
    #expect(names(deferred) == common + ["deliver_after", "notification"])
    #expect(deferred["deliver_after"] == .text("2026-03-10T07:00:00.000Z"))
    #expect(deferred.key == Array("u-1\0n-1\0d-1".utf8))
    let dropped = gate.decide(candidateJSON(["category": #""marketing""#]), at: night)[0]
    #expect(names(dropped) == common + ["notification"])
    #expect(
      dropped["blocked_by"]
        == .array(
          ["no_gdpr_consent", "category_default_off", "quiet_hours_dropped"].map { .text($0) }))
    #expect(
      dropped["evidence.quiet_hours"]
        == (try? StrictParser.parse(
          """
          {"start":"22:00","end":"08:00","timezone":"Europe/Berlin","timezone_source":"account",\
          "in_window":true,"ends_at":"2026-03-10T07:00:00.000Z","days":["mon","sun"]}
          """)))
    let invalid = gate.decide("x", at: Self.now)[0]
    #expect(names(invalid) == common + ["detail", "detail_member", "notification_base64"])
    let unknown = gate.decide(candidateJSON(["user_id": #""stranger""#]), at: Self.now)[0]
    #expect(unknown["preference_version"] == .null && unknown["preference_offset"] == .null)
    #expect(unknown["evidence.quiet_hours.start"] == .null)
    #expect(unknown["evidence.user_category_opt_in.effective"] == .null)
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var out = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for i in 0..<4 { out.append(i <= part.count ? alphabet[bits >> (18 - 6 * i) & 63] : "=") }
    }
    return out
  }

  /// Requirements T4: the bytes are kept; of a longer one the first 32 KiB, its length and its hash
  /// (`sha256sum` of the same bytes gave the figure here).
  @Test func unreadableCandidatesAreKept() {
    let gate = TestGate()
    for count in [1, 2, 3, 4, 100, 32_767, 32_768] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
      let decided = gate.decide(bytes, nowMs: Self.nowMs)[0]
      #expect(decided["notification_base64"] == .text(Self.base64(bytes)), "\(count)")
      #expect(decided["bytes"] == nil && decided["sha256"] == nil)
    }
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let decided = gate.decide(bytes, nowMs: Self.nowMs)[0]
    #expect(decided["notification_base64"] == .text(Self.base64(Array(bytes.prefix(32_768)))))
    #expect(decided["bytes"] == .number("40000"))
    #expect(
      decided["sha256"]
        == .text("bb34e9c26e2402d1f56b9b05c69d64cf7c145a9b65db5a23b8260f13754bf00a"))
    #expect(gate.decide(nil, nowMs: Self.nowMs)[0]["notification_base64"] == .null)
    #expect(gate.decide([], nowMs: Self.nowMs)[0]["notification_base64"] == .text(""))
  }

  /// Whatever the size: a record of 900 kB is cut, its reason given, and the next is decided.
  @Test func hugeRecords() {
    let gate = TestGate(documents: [documentJSON(device: ["region": #""US""#])])
    let huge = candidateJSON(["payload": "{\"t\":\"\(String(repeating: "x", count: 900_000))\"}"])
    let decided = gate.decideAll(
      [(Array(huge.utf8), nil, 0), (Array(candidateJSON([:]).utf8), nil, 0)], nowMs: Self.nowMs)
    #expect(decided.map(\.reason) == [.invalidCandidate, .ok])
    #expect(decided[0]["detail"] == .text("record_too_large"))
    #expect(decided[0].value.count < 60_000)
    #expect(decided[0].notificationID == Array("n-1".utf8))
  }

  /// Many large outputs make the memory grow while earlier records are in it; afterwards it shrinks,
  /// and what is written then is as it was.
  @Test func memoryGrowsAndShrinks() {
    let devices = (0..<64).map {
      #"{"device_id":"d\#($0)","platform":"ios","os_permission":"granted","token_status":"active"}"#
    }
    let gate = TestGate(documents: [
      documentJSON(["devices": "[\(devices.joined(separator: ","))]"])
    ])
    let small = Array(candidateJSON([:]).utf8)
    let before = gate.decide(small, nowMs: Self.nowMs)
    let large = Array(
      candidateJSON(["pad": "\"\(String(repeating: "p", count: 60_000))\""]).utf8)
    let batch = (0..<32).map { _ in
      (value: Optional(large), key: [UInt8]?.none, partition: Int32(0))
    }
    let decided = gate.decideAll(batch, nowMs: Self.nowMs)
    #expect(decided.count == 32 * 64)
    #expect(decided.allSatisfy { $0["notification.pad"] != nil })
    #expect(decided.map(\.inputIndex) == (0..<32).flatMap { Array(repeating: $0, count: 64) })
    for _ in 0..<2 {
      #expect(gate.decide(small, nowMs: Self.nowMs).map(\.value) == before.map(\.value))
    }
  }

  @Test func integers() {
    var writer = JSONWriter(capacity: 64)
    for value in [0, 1, -1, 9, 10, .max, .min, 90_210] as [Int64] {
      writer.removeAll()
      writer.integer(value)
      #expect(
        String(decoding: Bytes(start: writer.base, count: writer.count), as: UTF8.self)
          == "\(value)")
    }
  }
}

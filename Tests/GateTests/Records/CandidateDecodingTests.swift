import Testing

@testable import Gate

/// Each member of a candidate: what it may be, and what becomes of a candidate where it is not.
@Suite struct CandidateDecodingTests {
  private let decoder = TestDecoder()

  private func quoted(_ text: String) -> String {
    String(decoding: Tree.text(text).json, as: UTF8.self)
  }

  @Test func everyMemberIsRead() {
    let decoded = decoder.decode(
      candidateJSON([
        "device_id": #""d-1""#, "subtype": #""like""#, "event": #""e""#, "critical": "true",
        "created_at": #""2026-01-15T06:00:00Z""#, "expires_at": "1768456800001",
        "collapse_key": #""c""#, "sms_fallback": "true", "payload": #"{ "a" : [1] }"#,
        "other": "{}",
      ]))
    #expect(decoded.invalid == nil)
    #expect(decoded.notificationID == Array("n-1".utf8))
    #expect(decoded.userID == Array("u-1".utf8))
    #expect(decoded.deviceID == Array("d-1".utf8))
    #expect(decoded.category == .social)
    #expect(decoded.subtype == Array("like".utf8))
    #expect(decoded.event == Array("e".utf8))
    #expect(decoded.collapseKey == Array("c".utf8))
    #expect(decoded.critical && decoded.smsFallback)
    #expect(decoded.createdAtMs == 1_768_456_800_000)
    #expect(decoded.expiresAtMs == 1_768_456_800_001)
    #expect(decoded.payloadBytes == #"{ "a" : [1] }"#.utf8.count)
  }

  /// C112: null and missing are one thing, for required members and for optional ones.
  @Test func nullCountsAsMissing() {
    for member in CandidateMember.allCases {
      let name = "\(member.name)"
      let isRequired = [.notificationID, .userID, .category].contains(member)
      for value in ["null", "missing"] {
        let decoded = decoder.decode(candidateJSON([name: value]))
        #expect(decoded.invalid == (isRequired ? .missingMember : nil), "\(name) \(value)")
        #expect(decoded.member == (isRequired ? member : nil), "\(name) \(value)")
      }
    }
  }

  @Test func everyWrongType() {
    let types = [
      "string": #""x""#, "number": "5", "fraction": "1.5", "true": "true",
      "object": #"{"a":1}"#, "array": "[1]",
    ]
    for member in CandidateMember.allCases {
      let allowed: Set<String> =
        switch member {
        case .critical, .smsFallback: ["true"]
        case .createdAt, .expiresAt: ["string", "number", "fraction"]
        case .payload: ["object"]
        default: ["string"]
        }
      for (type, value) in types {
        let decoded = decoder.decode(candidateJSON(["\(member.name)": value]))
        if allowed.contains(type) {
          #expect(decoded.invalid != .wrongType, "\(member.name) \(type)")
        } else {
          #expect(decoded.invalid == .wrongType, "\(member.name) \(type)")
          #expect(decoded.member == member, "\(member.name) \(type)")
        }
      }
    }
  }

  /// C131: ids of 1 to 128 bytes, counted after unescaping, without control characters of any kind.
  @Test func ids() {
    let good = [
      "x", " ", "a b", "é", "😀", String(repeating: "x", count: 128),
      String(repeating: "é", count: 64),
      "a/b\"c\\d", "\u{A0}", "\u{AD}", "\u{2028}", "0", "null",
    ]
    var bad = ["", String(repeating: "x", count: 129), String(repeating: "é", count: 64) + "x"]
    bad += (0..<0x20).map { "a\(Character(Unicode.Scalar(UInt8($0))))b" }
    bad += (0x7F...0x9F).map { "a\(Character(Unicode.Scalar(UInt8($0))))b" }
    for name in ["notification_id", "user_id", "device_id"] {
      for id in good {
        let decoded = decoder.decode(candidateJSON([name: quoted(id)]))
        #expect(decoded.invalid == nil, "\(name) \(id)")
        let read =
          name == "user_id"
          ? decoded.userID
          : name == "device_id" ? decoded.deviceID : decoded.notificationID
        #expect(read == Array(id.utf8))
      }
      for id in bad {
        let escaped = id.unicodeScalars.map { scalar in
          let digits = String(scalar.value, radix: 16)
          return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
        for written in [quoted(id), "\"\(escaped)\""] {
          let decoded = decoder.decode(candidateJSON([name: written]))
          #expect(decoded.invalid == .malformedID, "\(name) \(written)")
          #expect("\(decoded.member!.name)" == name)
        }
      }
    }
  }

  @Test func shortTexts() {
    for name in ["subtype", "event", "collapse_key"] {
      for (text, isFine) in [
        ("", true), (String(repeating: "x", count: 64), true),
        (String(repeating: "x", count: 65), false), (String(repeating: "é", count: 32), true),
        (String(repeating: "é", count: 32) + "x", false), ("\n", true),
      ] {
        let decoded = decoder.decode(candidateJSON([name: quoted(text)]))
        #expect(decoded.invalid == (isFine ? nil : .tooLong), "\(name) \(text.utf8.count)")
      }
      let escaped = "\"" + String(repeating: #"\u0078"#, count: 64) + "\""
      #expect(decoder.decode(candidateJSON([name: escaped])).invalid == nil)
    }
  }

  /// C111: matched exactly. The empty string is a category nobody knows, not a missing one.
  @Test func categories() {
    for category in Category.allCases {
      #expect(
        decoder.decode(candidateJSON(["category": "\"\(category.name)\""])).category == category)
    }
    for text in [
      "", "promo2", "Marketing", " marketing", "marketing ", "markting", "socials", "null",
      "marketinG", "securitx",
    ] {
      let decoded = decoder.decode(candidateJSON(["category": quoted(text)]))
      #expect(decoded.invalid == nil && decoded.category == nil, "\(text)")
      #expect(decoded.categoryText == Array(text.utf8))
    }
    #expect(decoder.decode(candidateJSON(["category": #""\u0073ocial""#])).category == .social)
  }

  /// The first fault is named, and the rest is read on, so that the ids are there.
  @Test func idsOfInvalidCandidates() {
    let decoded = decoder.decode(
      #"{"critical":1,"expires_at":{},"user_id":"u","payload":3,"notification_id":"n","category":[]}"#
    )
    #expect(decoded.invalid == .wrongType && decoded.member == .critical)
    #expect(decoded.userID == [UInt8(ascii: "u")] && decoded.notificationID == [UInt8(ascii: "n")])
    let cut = decoder.decode(#"{"user_id":"u","notification_id":"n","category":"social""#)
    #expect(cut.invalid == .malformedJSON && cut.member == nil)
    #expect(cut.userID == [UInt8(ascii: "u")])
    let after = decoder.decode(candidateJSON([:]) + "x")
    #expect(after.invalid == .malformedJSON && after.userID == Array("u-1".utf8))
    let repeated = decoder.decode(#"{"user_id":"u","user_id":"v"}"#)
    #expect(repeated.invalid == .repeatedMember && repeated.userID == [UInt8(ascii: "u")])
  }

  @Test func texts() {
    let table: [(String, InvalidDetail)] = [
      ("", .malformedJSON), (" ", .malformedJSON), ("hello", .malformedJSON), ("{", .malformedJSON),
      ("null", .notAnObject), ("[]", .notAnObject), ("1", .notAnObject), (#""x""#, .notAnObject),
      ("true", .notAnObject), ("[{}]", .notAnObject), ("[1", .malformedJSON),
      ("nul", .malformedJSON),
      ("1 2", .malformedJSON), ("{}", .missingMember), ("{}{}", .malformedJSON),
      (#"{"a":1,"a":1}"#, .repeatedMember),
      (#"{"category":"marketing","category":"security"}"#, .repeatedMember),
      (candidateJSON(["payload": #"{"a":1,"a":2}"#, "z": #"{"a":1,"a":2}"#]), .repeatedMember),
      (candidateJSON(["event": #""\ud800""#]), .malformedString),
      (candidateJSON(["payload": "{]"]), .malformedJSON),
      (candidateJSON(["payload": "{1:2}"]), .malformedJSON),
      (candidateJSON(["x": "{1:2}"]), .malformedJSON),
      (candidateJSON(["payload": "[]"]), .wrongType),
    ]
    for (text, detail) in table { #expect(decoder.decode(text).invalid == detail, "\(text)") }
    #expect(decoder.decode(nil as [UInt8]?).invalid == .nullValue)
    #expect(
      decoder.decode(candidateJSON(["payload": #"{"a":1,"a":{"b":1,"b":2}}"#])).invalid == nil)
    #expect(decoder.decode(candidateJSON(["x": #"{"a":[{"b":1}]}"#])).invalid == nil)
    #expect(decoder.decode(" \n\(candidateJSON([:]))\t ").invalid == nil)
  }

  /// Names are told apart by length and a byte at first: none may be taken for another.
  @Test func namesNearToTheMembers() {
    for member in CandidateMember.allCases {
      let name = Array("\(member.name)".utf8)
      #expect(name.withUnsafeBytes { CandidateMember($0) } == member)
      for at in name.indices {
        var other = name
        other[at] ^= 0x20
        #expect(other.withUnsafeBytes { CandidateMember($0) } == nil)
        other.remove(at: at)
        #expect(other.withUnsafeBytes { CandidateMember($0) } == nil)
      }
    }
    #expect(withBytes("") { CandidateMember($0) } == nil)
  }
}

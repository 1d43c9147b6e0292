import Testing

@testable import Gate

/// Every fault that makes a document unreadable, and what is not one.
@Suite struct DocumentFaultTests {
  static let faults: [(DocumentFault, [String])] = [
    (.malformedJSON, ["", " ", "{", "{}x", documentJSON() + ",", documentJSON(["x": "{]"])]),
    (
      .wrongType,
      [
        "null", "[]", "1", #""x""#, documentJSON(["user_id": "5"]), documentJSON(["devices": "{}"]),
        documentJSON(["devices": "[1]"]), documentJSON(["account": "[]"]),
        documentJSON(account: ["categories": "[]"]), documentJSON(account: ["suppressions": "{}"]),
        documentJSON(account: ["muted_subtypes": "[]"]),
        documentJSON(account: ["muted_subtypes": #"{"social":"like"}"#]),
        documentJSON(account: ["muted_subtypes": #"{"social":[1]}"#]),
        documentJSON(device: ["device_id": "7"]),
      ]
    ),
    (.tooDeep, [documentJSON(["x": nested(64, "[", "]")])]),
    (
      .repeatedMember,
      [
        #"{"user_id":"u","user_id":"u"}"#, #"{"user_id":"u","a":{"b":1,"\u0062":2}}"#,
        documentJSON(account: ["categories": #"{"social":null,"social":null}"#]),
      ]
    ),
    (.malformedString, [documentJSON(["user_id": #""\ud800""#]), documentJSON([#"\udfff"#: "1"])]),
    (.missingUserID, ["{}", documentJSON(["user_id": "missing"])]),
    (
      .malformedID,
      [
        documentJSON(["user_id": #""""#]), documentJSON(["user_id": #""a\u0000""#]),
        documentJSON(["user_id": "\"\(String(repeating: "x", count: 129))\""]),
        documentJSON(device: ["device_id": #""\u0085""#]),
        documentJSON(device: ["device_id": #""""#]),
      ]
    ),
    (
      .malformedVersion,
      [
        documentJSON(["version": "-1"]), documentJSON(["version": "1.0"]),
        documentJSON(["version": "9007199254740993"]), documentJSON(["version": #""1""#]),
        documentJSON(["version": "1e3"]),
      ]
    ),
    (
      .unknownChoice,
      ["on", "off", "", "true", "withdrawn ", "User-On", "user-on "].map {
        documentJSON(account: ["categories": #"{"social":{"state":"\#($0)"}}"#])
      }
        + ["0", "false", #""user-off""#, "[]"].flatMap {
          [
            documentJSON(account: ["categories": #"{"social":\#($0)}"#]),
            documentJSON(device: ["categories": #"{"security":\#($0)}"#]),
            documentJSON(account: ["sms": $0]),
          ]
        }
        + ["0", "true", "{}", "[]"].map {
          documentJSON(account: ["categories": #"{"social":{"state":\#($0)}}"#])
        }
    ),
    (
      .unknownPermission,
      [#""ok""#, #""""#, "1", "{}", #""Granted""#].map {
        documentJSON(device: ["os_permission": $0])
      }
    ),
    (
      .unknownTokenStatus,
      [#""dead""#, "true", "[]"].map { documentJSON(device: ["token_status": $0]) }
    ),
    (.unknownPlatform, [#""web""#, "0", #""iOS""#].map { documentJSON(device: ["platform": $0]) }),
    (
      .unknownSuppression,
      [#"["spam"]"#, "[null]", "[1]", #"["bounced","x"]"#].flatMap {
        [documentJSON(account: ["suppressions": $0]), documentJSON(device: ["suppressions": $0])]
      }
    ),
    (.missingPermission, ["missing", "null"].map { documentJSON(device: ["os_permission": $0]) }),
    (.missingTokenStatus, ["missing", "null"].map { documentJSON(device: ["token_status": $0]) }),
    (.missingPlatform, ["missing", "null"].map { documentJSON(device: ["platform": $0]) }),
    (.missingDeviceID, [documentJSON(device: ["device_id": "missing"])]),
    (.tooManyDevices, [documentJSON(["devices": devices(65)])]),
    (
      .repeatedDevice, [documentJSON(["devices": "[\(device("x")),\(device("y")),\(device("x"))]"])]
    ),
    (
      .tooLarge,
      [
        documentJSON(["x": "\"\(String(repeating: "x", count: 2 << 20))\""]),
        documentJSON(account: ["muted_subtypes": "{\"social\":[\(mutes(120_000))]}"]),
      ]
    ),
  ]

  private static func device(_ id: String) -> String {
    #"{"device_id":"\#(id)","platform":"ios","os_permission":"granted","token_status":"active"}"#
  }
  private static func devices(_ count: Int) -> String {
    "[\((0..<count).map { device("d-\($0)") }.joined(separator: ","))]"
  }
  private static func mutes(_ count: Int) -> String {
    (0..<count).map { "\"\($0)\"" }.joined(separator: ",")
  }

  @Test func everyFault() {
    for (fault, documents) in Self.faults {
      for document in documents {
        let table = newTable()
        let shown = "\(fault): \(document.prefix(200))"
        #expect(table.apply(key: "u-1", document) == .unreadable(fault), "\(shown)")
        let block = table.block("u-1")
        #expect(block?.isUnreadable == true && block?.deviceCount == 0, "\(shown)")
      }
    }
    let seen = Set(Self.faults.map(\.0))
    let rest = Set(DocumentFault.allCases).subtracting(seen)
    #expect(rest == [.malformedUTF8, .otherUser], "a fault that no document of the table has")
    let words = DocumentFault.allCases.map { "\($0.words)" }
    #expect(Set(words).count == words.count)
  }

  @Test func faultsOfBytesAndKeys() {
    let table = newTable()
    let broken = Array(documentJSON().utf8).map { $0 == UInt8(ascii: "1") ? 0xFF : $0 }
    let applied = withBytes("u-1") { key in
      broken.withUnsafeBytes { table.apply(key: key, value: $0, offset: 4) }
    }
    #expect(applied == .unreadable(.malformedUTF8))
    #expect(table.block("u-1")?.offset == 4)
    #expect(table.apply(key: "u-2", documentJSON()) == .unreadable(.otherUser))
    #expect(table.block("u-2")?.isUnreadable == true)
    // C131: nobody's record.
    #expect(table.apply(key: "", documentJSON()) == .ignored)
    #expect(table.apply(key: "", nil) == .ignored)
    #expect(table.apply(key: nil, value: nil, offset: 0) == .ignored)
    #expect(table.apply(key: String(repeating: "x", count: 129), documentJSON()) == .ignored)
    #expect(table.users == 2)
  }

  /// A document from a file makes the user it names unreadable, and nobody where it names none.
  @Test func faultsOfALine() {
    let table = newTable()
    #expect(table.apply(documentJSON(["version": "-1"])) == .unreadable(.malformedVersion))
    #expect(table.block("u-1")?.isUnreadable == true)
    #expect(table.apply(#"{"devices":7}"#) == .ignored)
    #expect(table.apply(#"{"devices":7,"user_id":"later"}"#) == .ignored)
    #expect(table.users == 1)
  }

  /// Members that may be absent, null, or of a kind that nobody knows yet.
  @Test func tolerated() {
    for document in [
      #"{"user_id":"u-1"}"#, #"{"user_id":"u-1","version":null,"account":null,"devices":null}"#,
      documentJSON(["x": #"{"y":[1]}"#], account: ["x": "1"], device: ["x": "null"]),
      documentJSON(account: [
        "categories": "null", "muted_subtypes": "null", "quiet_hours": "null", "timezone": "null",
        "suppressions": "null", "sms": "null",
      ]),
      documentJSON(device: [
        "categories": "null", "quiet_hours": "null", "timezone": "null", "region": "null",
        "suppressions": "null",
      ]),
      documentJSON(account: ["categories": #"{"games":{"state":"on"},"social":null}"#]),
      documentJSON(account: ["categories": #"{"social":{}}"#]),
      documentJSON(account: ["categories": #"{"social":{"state":null,"at":null,"source":null}}"#]),
      documentJSON(account: ["categories": #"{"social":{"state":"user-on","at":"x","source":7}}"#]),
      documentJSON(account: ["muted_subtypes": #"{"games":7,"social":null}"#]),
      documentJSON(device: ["region": "7"]), documentJSON(device: ["region": #""de""#]),
      documentJSON(["devices": "[]"]), documentJSON(["devices": Self.devices(64)]),
    ] {
      let table = newTable()
      #expect(table.apply(document) == .stored([]), "\(document.prefix(300))")
      #expect(table.block("u-1")?.isUnreadable == false)
    }
  }
}

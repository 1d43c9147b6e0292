import Testing

@testable import Gate

/// What a readable document says that is passed over, and said.
@Suite struct DocumentNotesTests {
  private func notes(_ document: String) -> DocumentNotes? {
    guard case .stored(let notes) = newTable().apply(document) else { return nil }
    return notes
  }

  @Test func unknownZones() {
    for zone in [
      "", "Nowhere/Land", "EDT", "CEST", "utc", "UTC+8", "+08:00", "China Standard Time",
      "../../etc/passwd", "localtime", "posixrules", "America", "America/Los Angeles",
      "america/new_york", "Factory", "zone.tab",
    ] {
      #expect(notes(documentJSON(account: ["timezone": "\"\(zone)\""])) == .unknownZone, "\(zone)")
      #expect(notes(documentJSON(device: ["timezone": "\"\(zone)\""])) == .unknownZone, "\(zone)")
    }
    for value in ["5", "{}", "[]", "true"] {
      #expect(notes(documentJSON(device: ["timezone": value])) == .unknownZone)
    }
    for zone in ["UTC", "Europe/Berlin", "US/Eastern", "EST", "Etc/GMT+5", "GMT0"] {
      #expect(notes(documentJSON(device: ["timezone": "\"\(zone)\""])) == [], "\(zone)")
    }
  }

  /// C008: what is no window is kept as that.
  @Test func invalidWindows() {
    let windows = [
      #"{"start":"","end":"25:99"}"#, #"{"start":"22:00"}"#, #"{"end":"07:00"}"#, "{}",
      #"{"start":"22:00","end":null}"#, #"{"start":null,"end":"07:00"}"#,
      #"{"start":"7:00","end":"08:00"}"#, #"{"start":"22:00:30","end":"08:00"}"#,
      #"{"start":"２２:００","end":"08:00"}"#, #"{"start":" 22:00","end":"08:00"}"#,
      #"{"start":2200,"end":"08:00"}"#, #"{"start":"24:00","end":"08:00"}"#,
      #"{"start":"22:00","end":"24:01"}"#, #"{"start":"22:60","end":"08:00"}"#,
      #"{"start":"22:00","end":"08:00","days":["monday"]}"#,
      #"{"start":"22:00","end":"08:00","days":[1]}"#,
      #"{"start":"22:00","end":"08:00","days":"mon"}"#,
      #"{"start":"22:00","end":"08:00","days":["mon",null]}"#, "7", #""22:00-08:00""#, "[]", "true",
    ]
    for window in windows {
      for document in [
        documentJSON(account: ["quiet_hours": window]),
        documentJSON(device: ["quiet_hours": window]),
      ] {
        let table = newTable()
        #expect(table.apply(document) == .stored(.invalidWindow), "\(window)")
        let block = table.block("u-1")!
        let kinds = [block.accountPlace.windowKind, block.device(0).place.windowKind]
        #expect(kinds.contains(.invalid), "\(window)")
      }
    }
  }

  @Test func windowsThatAreNone() {
    for window in [
      #"{"start":"08:00","end":"08:00"}"#, #"{"start":"22:00","end":"08:00","days":[]}"#,
    ] {
      let table = newTable()
      #expect(table.apply(documentJSON(device: ["quiet_hours": window])) == .stored([]))
      #expect(table.block("u-1")!.device(0).place.windowKind == .null)
    }
    let table = newTable()
    _ = table.apply(documentJSON(device: ["quiet_hours": "null"]))
    #expect(table.block("u-1")!.device(0).place.windowKind == .null)
    _ = table.apply(documentJSON(account: ["quiet_hours": "null"]))
    #expect(table.block("u-1")!.accountPlace.windowKind == .absent)
  }

  /// Requirements C6: only an administrator turns security off.
  @Test func securityOff() {
    for source in [#""in_app_settings""#, #""unsubscribe_link""#, #""x""#, "null", "7"] {
      let choice = #"{"security":{"state":"user-off","at":1772000000000,"source":\#(source)}}"#
      for document in [
        documentJSON(account: ["categories": choice]), documentJSON(device: ["categories": choice]),
      ] {
        let table = newTable()
        #expect(table.apply(document) == .stored(.securityOffIgnored))
        let block = table.block("u-1")!
        #expect(block.accountChoices[.security] == .unset)
        #expect(block.device(0).choices[.security] == .unset)
      }
    }
    let table = newTable()
    let byAdmin = #"{"security":{"source":"admin_override","state":"user-off"}}"#
    #expect(table.apply(documentJSON(account: ["categories": byAdmin])) == .stored([]))
    #expect(table.block("u-1")!.accountChoices[.security] == .userOff)
  }

  @Test func severalAtOnce() {
    let document = documentJSON(
      account: ["timezone": #""X""#, "quiet_hours": "1"],
      device: ["categories": #"{"security":{"state":"user-off"}}"#])
    #expect(notes(document) == [.unknownZone, .invalidWindow, .securityOffIgnored])
  }

  /// The defaults' records: on or off in both, security never off.
  @Test func defaultRecords() {
    let table = newTable()
    func apply(_ key: String?, _ value: String?) -> Bool {
      guard let key else { return table.applyDefault(key: nil, value: nil) }
      return withBytes(key) { key in
        guard let value else { return table.applyDefault(key: key, value: nil) }
        return withBytes(value) { table.applyDefault(key: key, value: $0) }
      }
    }
    func record(_ category: String, _ on: String, _ regulated: String) -> String {
      #"{"category":"\#(category)","default":\#(on),"regulated_default":\#(regulated),"x":1}"#
    }
    let rules = Policy.builtIn.rules
    #expect(apply("marketing", record("marketing", #""off""#, #""on""#)))
    #expect(!table.defaults.isOn(.marketing, regulated: false, rules))
    #expect(table.defaults.isOn(.marketing, regulated: true, rules))
    #expect(table.defaults.isOn(.social, regulated: true, rules))
    let before = table.defaults
    for (key, value) in [
      (nil, nil), ("", nil), ("games", record("games", #""on""#, #""on""#)),
      ("social", record("marketing", #""on""#, #""on""#)), ("marketing", ""), ("marketing", "null"),
      ("marketing", record("marketing", #""ON""#, #""on""#)), ("marketing", "{}"),
      ("marketing", record("marketing", "null", #""on""#)),
      ("marketing", record("marketing", #""on""#, "true")),
      ("security", record("security", #""off""#, #""on""#)),
      ("security", record("security", #""on""#, #""off""#)),
      ("marketing", record("marketing", #""on""#, #""on""#) + "x"),
      (
        "marketing",
        #"{"category":"marketing","default":"on","default":"on","regulated_default":"on"}"#
      ),
    ] as [(String?, String?)] {
      #expect(!apply(key, value), "\(key ?? "nil") \(value ?? "nil")")
      #expect(table.defaults == before)
    }
    #expect(apply("security", record("security", #""on""#, #""on""#)))
    #expect(apply("marketing", nil))
    #expect(table.defaults.isOn(.marketing, regulated: false, rules))
    #expect(!table.defaults.isOn(.marketing, regulated: true, rules))
    #expect(withBytes(record("social", #""off""#, #""off""#)) { table.applyDefault(record: $0) })
    #expect(!table.defaults.isOn(.social, regulated: false, rules))
    #expect(!withBytes(record("games", #""off""#, #""off""#)) { table.applyDefault(record: $0) })
  }
}

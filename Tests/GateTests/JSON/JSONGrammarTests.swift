import Testing

@testable import Gate

/// RFC 8259, line by line: what is JSON is read, what is not is refused.
@Suite struct JSONGrammarTests {
  static let valid: [String] = [
    "{}", "[]", "null", "true", "false", "0", "-0", "1", "-1", "10", "0.5", "1.25e10", "1E+2",
    "1e-400", "2e0", #""""#, #""a""#, " \t\r\n{ } \t\r\n", "[1,2 , 3]", "[[],{}]",
    #"{"a":1}"#, #"{"a":{"a":{"a":[]}}}"#, #"{"":0}"#, #"{" ":0,"  ":1}"#,
    #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u20AC""#, #""\ud83d\ude00""#, #""\uD834\udd1e x""#,
    #""\u0000""#, #""\u001f""#, "\"\u{7f}\u{80}\u{2028}\"", #""😀é漢""#,
    String(repeating: "9", count: 4_000), "-" + String(repeating: "1", count: 4_000) + ".5e9",
    "0." + String(repeating: "0", count: 4_000) + "1",
    #"["\\","\\\\","a\\"]"#, #"{"a\\":"\\","b":"\""}"#,
  ]

  static let invalid: [String] = [
    "", " ", "\n", "{", "}", "[", "]", "{]", "[}", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", "{,}",
    #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{"a" 1}"#, #"{a:1}"#, #"{'a':1}"#,
    #"{1:1}"#, #"{null:1}"#, #"{"a"::1}"#, #"{"a":1:2}"#, "[1 2]", #"["a" "b"]"#, #""a" "b""#,
    #""a""b""#, #"["a""b"]"#, "{}{}", "[][]", "1 2", "{} x", "[]]", "{}}", "null null", "nul",
    "nulll", "Null", "NULL", "tru", "truee", "TRUE", "fals", "false1", "truefalse", "n", "t", "f",
    "01", "-01", "00", "1.", ".5", "-", "-.5", "+1", "1e", "1e+", "1.e5", "1e5.5", "0x10", "1_000",
    "1a", "1-", "--1", "1..2", "1,2", "Infinity", "NaN", "-Infinity", "1f", "١",
    "\"", "\"a", #""a\""#, #""\x""#, #""\u12""#, #""\u12G4""#, #""\u""#, #""\ ""#, #""\U0041""#,
    #""\'""#, "\"\u{0}\"", "\"\u{1f}\"", "\"\n\"", "\"\t\"", "{\"a\n\":1}", "\u{0}", "{}\u{0}",
    "\u{FEFF}{}", "{}\u{FEFF}", "\u{A0}{}", "\u{0B}{}", "{}\u{0C}", "// x\n{}", "{}/**/", "# {}",
    #"{"a":1;"b":2}"#, #"["a"x]"#, #"[x"a"]"#, #"["a"1]"#, #"[1"a"]"#, #"[true"a"]"#, "[1true]",
    #"["a"true]"#, #"{"a"x:1}"#, #"{"a":"b"c}"#, #"{"a":1"b":2}"#, #"[{}"a"]"#, #"[1{}]"#,
    #"[[]1]"#, #"\"a""#, #"["a\\"b"]"#, "{\"a\":\\1}", "[\\]", "[1\\]",
  ]

  @Test func validTextsAreRead() {
    for text in Self.valid {
      let wanted = try? StrictParser.parse(text)
      #expect(wanted != nil, "the second parser: \(text.prefix(80))")
      #expect((try? gateReads(text).get()) == wanted, "\(text.prefix(80))")
      #expect(gateSkips(Array(text.utf8)) == nil, "\(text.prefix(80))")
      #expect(gateSkips(Array(text.utf8), opaque: true) == nil, "\(text.prefix(80))")
    }
  }

  /// Wherever it stands: alone, in an array, as a member, between others, and as deep as is allowed.
  @Test func invalidTextsAreRefused() {
    for text in Self.invalid {
      for whole in [
        text, "[\(text)]", #"{"x":\#(text)}"#, #"[0,\#(text),0]"#, nested(63, "[", "]", text),
        #"{"x":\#(text),"y":"z"}"#,
      ] {
        guard (try? StrictParser.parse(whole)) == nil else { continue }
        let bytes = Array(whole.utf8)
        #expect((try? gateReads(bytes).get()) == nil, "\(whole)")
        #expect(gateSkips(bytes) != nil, "skip: \(whole)")
        #expect(gateSkips(bytes, opaque: true) != nil, "opaque: \(whole)")
      }
      #expect((try? StrictParser.parse(text)) == nil, "the second parser: \(text)")
    }
  }

  @Test func stringsStandForWhatTheyEscape() throws {
    let table: [(String, [UInt8])] = [
      (#"\u0041"#, [0x41]), (#"\u00e9"#, [0xC3, 0xA9]), (#"\u20AC"#, [0xE2, 0x82, 0xAC]),
      (#"\ud83d\ude00"#, [0xF0, 0x9F, 0x98, 0x80]), (#"\udbff\udfff"#, [0xF4, 0x8F, 0xBF, 0xBF]),
      (#"\ud800\udc00"#, [0xF0, 0x90, 0x80, 0x80]), (#"\u0000"#, [0]), (#"\/"#, [0x2F]),
      (#"\b\f\n\r\t\"\\"#, [8, 12, 10, 13, 9, 34, 92]), (#"\uffff"#, [0xEF, 0xBF, 0xBF]),
      (#"é\u0301"#, [0xC3, 0xA9, 0xCC, 0x81]),
    ]
    for (written, bytes) in table {
      #expect(try gateReads("\"\(written)\"").get() == .string(bytes), "\(written)")
    }
  }

  /// A lone surrogate is no character: refused where the string is read, passed over where it is not
  /// (the grammar allows it).
  @Test func loneSurrogates() {
    for written in [
      #"\ud800"#, #"\udc00"#, #"\ude00\ud83d"#, #"\ud83dx"#, #"\ud83d\n"#, #"\ud83d\u0041"#,
      #"\ud83d\ud83d"#, #"a\udfff"#,
    ] {
      let text = "\"\(written)\""
      #expect(gateReads(text) == .failure(.malformedString), "\(written)")
      #expect(gateSkips(Array(text.utf8)) == nil, "\(written)")
      #expect(gateReads("{\(text):1}") == .failure(.malformedString), "\(written)")
    }
    #expect(gateReads(#""\ud83d\u12""#) != .success(.null))
    #expect(gateSkips(Array(#""\ud83d\u12""#.utf8)) == .malformedJSON)
  }

  @Test func invalidUTF8() {
    let sequences: [[UInt8]] = [
      [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF],
      [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0xAF],
      [0xF0, 0x9F, 0x98], [0xE2, 0x82], [0xC3], [0x80], [0xBF], [0xFE], [0xFF], [0xF8, 0x88],
    ]
    for bytes in sequences {
      for pad in [0, 1, 30, 61, 62, 63, 64, 200] {
        let text =
          Array("{\"a\":\"".utf8) + [UInt8](repeating: 97, count: pad) + bytes
          + Array("\"}".utf8)
        #expect(gateReads(text) == .failure(.malformedUTF8), "\(bytes) after \(pad)")
      }
      #expect(gateReads(bytes) == .failure(.malformedUTF8), "\(bytes) alone")
    }
  }

  @Test func depth() {
    for (open, close, perLevel) in [("[", "]", 1), (#"{"a":"#, "}", 1), (#"[{"a":"#, "}]", 2)] {
      let inner = open == "[" ? "" : "0"
      let fits = nested(64 / perLevel, open, close, inner)
      #expect((try? gateReads(fits).get()) == (try? StrictParser.parse(fits)))
      #expect(gateSkips(Array(fits.utf8)) == nil)
      #expect(gateSkips(Array(fits.utf8), opaque: true) == nil)
      let deeper = nested(64 / perLevel + 1, open, close, inner)
      #expect(gateReads(deeper) == .failure(.tooDeep))
      #expect(gateSkips(Array(deeper.utf8)) == .tooDeep)
      #expect(gateSkips(Array(deeper.utf8), opaque: true) == .tooDeep)
    }
    // Depth is left again: as many siblings as one likes.
    let siblings =
      "[" + Array(repeating: nested(63, "[", "]"), count: 100).joined(separator: ",")
      + "]"
    #expect(gateSkips(Array(siblings.utf8)) == nil)
    #expect(gateSkips(Array(siblings.utf8), opaque: true) == nil)
  }

  /// Half a million brackets end at the 65th: no recursion, no stack, no time.
  @Test func hostileDepth() {
    for text in [
      String(repeating: "[", count: 500_000), String(repeating: #"{"a":"#, count: 100_000),
      nested(250_000, "[", "]"), #"{"x":\#(nested(250_000, "[", "]"))}"#,
      #"{"payload":\#(nested(250_000, "[", "]"))}"#,
    ] {
      #expect(gateSkips(Array(text.utf8)) == .tooDeep)
      #expect(gateSkips(Array(text.utf8), opaque: true) == .tooDeep)
    }
    #expect(gateSkips(Array(String(repeating: "]", count: 500_000).utf8)) == .malformedJSON)
  }
}

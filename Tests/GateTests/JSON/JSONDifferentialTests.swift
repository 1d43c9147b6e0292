import Testing

@testable import Gate

/// Random and mutated texts, read by the gate and by `StrictParser`: both read the same tree, or both
/// refuse.
@Suite struct JSONDifferentialTests {
  /// Texts made from pieces that look like JSON, so that many are and many nearly are.
  struct Maker {
    var generator: SeededGenerator

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    mutating func one(_ choices: [String]) -> String { choices[below(choices.count)] }
    mutating func space() -> String { one(["", "", "", " ", "\n", "\t\r "]) }

    mutating func value(_ depth: Int) -> String {
      switch below(depth > 5 ? 4 : 6) {
      case 0: return one(["null", "true", "false"])
      case 1: return one(["0", "-0", "12", "-3.25", "1e5", "9007199254740993", "1E-7"])
      case 2, 3: return string()
      case 4: return "[\(list(depth) { $0.value($1) })\(space())]"
      default:
        return "{" + list(depth) { "\($0.space())\($0.string())\($0.space()):\($0.value($1))" }
          + "}"
      }
    }

    mutating func list(_ depth: Int, _ item: (inout Maker, Int) -> String) -> String {
      (0..<below(5)).map { _ in space() + item(&self, depth + 1) + space() }.joined(separator: ",")
    }

    mutating func string() -> String {
      "\""
        + (0..<below(6)).map { _ in
          one([
            "a", "b", "key", "é", "😀", #"\n"#, #"\""#, #"\\"#, #"\u0061"#, #"\ud83d\ude00"#, " ",
            #"\/"#, "0123456789abcdef", "漢",
          ])
        }.joined() + "\""
    }

    mutating func mutated(_ text: [UInt8]) -> [UInt8] {
      var text = text
      let alphabet =
        Array("{}[]:,\"\\ utrfalsn0123456789eE+-.\u{0}\u{1}\n".utf8) + [0x80, 0xC3, 0xFF]
      for _ in 0...below(3) {
        let at = below(text.count + 1)
        switch below(4) {
        case 0 where at < text.count: text.remove(at: at)
        case 1 where at < text.count: text[at] = alphabet[below(alphabet.count)]
        case 2 where at < text.count: text.swapAt(at, below(text.count))
        default: text.insert(alphabet[below(alphabet.count)], at: at)
        }
      }
      return text
    }
  }

  private func compare(_ text: [UInt8], _ seed: UInt64) -> Bool {
    let wanted = try? StrictParser.parse(text)
    let got = try? gateReads(text).get()
    guard wanted == got else {
      Issue.record(
        """
        seed \(seed): \(String(decoding: text, as: UTF8.self)) \(text)
        second parser: \(wanted.map { "\($0)" } ?? "refused")
        gate: \(got.map { "\($0)" } ?? "refused")
        """)
      return false
    }
    // What is read as a whole is passed over too; the reverse does not hold (lone surrogates).
    return got == nil || (gateSkips(text) == nil && gateSkips(text, opaque: true) == nil)
  }

  @Test func randomTexts() {
    var maker = Maker(generator: SeededGenerator())
    let seed = maker.generator.seed
    var accepted = 0
    for _ in 0..<4_000 {
      let text = Array(maker.value(0).utf8)
      guard compare(text, seed) else { return }
      if (try? StrictParser.parse(text)) != nil { accepted += 1 }
      guard compare(maker.mutated(text), seed), compare(maker.mutated(text), seed) else { return }
    }
    #expect(accepted > 2_000, "seed \(seed): the texts are mostly no JSON")
  }

  /// Every text of up to four pieces: what random texts may miss.
  @Test func everyShortText() {
    let pieces = ["{", "}", "[", "]", ":", ",", #""a""#, "1", " ", "true", #"\"#, "\""]
    func go(_ text: String, _ left: Int) -> Bool {
      if !compare(Array(text.utf8), 0) { return false }
      guard left > 0 else { return true }
      for piece in pieces where !go(text + piece, left - 1) { return false }
      return true
    }
    #expect(go("", 4))
  }

  /// Strings and escapes at every place of the reader's 64-byte blocks.
  @Test func everyAlignment() {
    for pad in 0..<130 {
      let padding = String(repeating: " ", count: pad)
      let filler = String(repeating: "x", count: pad)
      for text in [
        #"\#(padding){"a\\":"\#(filler)\"","b":[1,"\\"]}"#, #"{"\#(filler)":\#(padding)12345}"#,
        #"["\#(filler)\u00e9\\\\",\#(padding)"\""]"#, #"["\#(filler)\"]"#,
        #"\#(padding)["\#(filler)" "x"]"#, #"[\#(padding)truex]"#, #"[1\#(padding)2]"#,
      ] {
        guard compare(Array(text.utf8), UInt64(pad)) else { return }
      }
    }
  }
}

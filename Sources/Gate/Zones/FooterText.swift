/// Reads the POSIX TZ string that ends a TZif file, such as `CET-1CEST,M3.5.0,M10.5.0/3`, with
/// RFC 9636's times of change from -167 to 167 hours.
enum FooterText {
  static func parse(_ text: UnsafeRawBufferPointer) throws(TZifError) -> FooterRule {
    var reader = Reader(text)
    try reader.name()
    let standard = try reader.offset()
    if reader.isAtEnd { return FooterRule(standardOffset: standard) }

    try reader.name()
    // POSIX: an hour ahead where nothing is said.
    let daylight = reader.isAt(",") || reader.isAtEnd ? standard + 3600 : try reader.offset()
    try reader.expect(",", "the rule is missing")
    let toDaylight = try reader.change()
    try reader.expect(",", "the rule has one date only")
    let toStandard = try reader.change()
    guard reader.isAtEnd else { throw .badFooter("something follows the rule") }
    return FooterRule(
      standardOffset: standard, daylightOffset: daylight, toDaylight: toDaylight,
      toStandard: toStandard)
  }

  private struct Reader {
    private let text: UnsafeRawBufferPointer
    private var at = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { at == text.count }

    func isAt(_ character: Unicode.Scalar) -> Bool {
      at < text.count && text[at] == UInt8(ascii: character)
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard isAt(character) else { return false }
      at += 1
      return true
    }

    mutating func expect(_ character: Unicode.Scalar, _ why: String) throws(TZifError) {
      guard skip(character) else { throw .badFooter(why) }
    }

    /// Three letters or more, or in angle brackets letters, digits and signs (`<+0330>`).
    mutating func name() throws(TZifError) {
      let quoted = skip("<")
      let start = at
      while at < text.count, isNameByte(text[at], quoted: quoted) { at += 1 }
      guard at - start >= 3 else { throw .badFooter("an abbreviation of under three characters") }
      if quoted { try expect(">", "an abbreviation without its closing bracket") }
    }

    private func isNameByte(_ byte: UInt8, quoted: Bool) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): quoted
      default: false
      }
    }

    /// Seconds east of UTC; the text counts hours west.
    mutating func offset() throws(TZifError) -> Int32 { -(try time(hoursMax: 24)) }

    mutating func change() throws(TZifError) -> FooterRule.Change {
      let day: FooterRule.Day
      if skip("M") {
        let month = try number(1...12, "month")
        try expect(".", "a month without its week")
        let week = try number(1...5, "week")
        try expect(".", "a week without its weekday")
        let weekday = try number(0...6, "weekday")
        day = .weekday(month: Int8(month), week: Int8(week), day: Int8(weekday))
      } else if skip("J") {
        day = .julian(Int16(try number(1...365, "day of the year")))
      } else {
        day = .ordinal(Int16(try number(0...365, "day of the year")))
      }
      let time = skip("/") ? try time(hoursMax: 167) : 2 * 3600
      return FooterRule.Change(day: day, timeSeconds: time)
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private mutating func time(hoursMax: Int32) throws(TZifError) -> Int32 {
      let negative = skip("-")
      if !negative { _ = skip("+") }
      var seconds = try number(0...hoursMax, "hour") * 3600
      if skip(":") {
        seconds += try number(0...59, "minute") * 60
        if skip(":") { seconds += try number(0...59, "second") }
      }
      return negative ? -seconds : seconds
    }

    private mutating func number(
      _ range: ClosedRange<Int32>, _ what: String
    ) throws(TZifError) -> Int32 {
      var value: Int32 = 0
      let start = at
      // Three digits are the most that any part has; more would only overflow.
      while at < text.count, at - start < 3, case let digit = text[at] &- UInt8(ascii: "0"),
        digit <= 9
      {
        value = value * 10 + Int32(digit)
        at += 1
      }
      guard at > start else { throw .badFooter("\(what): no number") }
      guard range.contains(value) else { throw .badFooter("\(what) \(value) is out of range") }
      return value
    }
  }
}

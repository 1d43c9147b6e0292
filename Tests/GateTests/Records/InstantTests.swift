import Glibc
import Testing

@testable import Gate

/// Instants as they are read and written, against the C library's calendar.
@Suite struct InstantTests {
  private func parse(_ text: String) -> Int64? { Instant.parse(text: text) }

  private func write(_ ms: Int64) -> String {
    String(
      decoding: [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
        Instant.write(ms, to: buffer.baseAddress!)
        count = 24
      }, as: UTF8.self)
  }

  /// Every day from 1999 to 2201: the date, the day's number, and the text both ways.
  @Test func everyDay() {
    let first = instant("1999-01-01T00:00:00Z") / 86_400
    let last = instant("2201-12-31T00:00:00Z") / 86_400
    for day in first...last {
      var seconds = time_t(day * 86_400)
      var parts = tm()
      gmtime_r(&seconds, &parts)
      let (year, month, date) = (
        Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)
      )
      #expect(Instant.days(year: year, month: month, day: date) == Int(day))
      #expect(Instant.date(days: Int(day)) == (year, month, date))
      let ms = day * 86_400_000 + (day * 7_919_317) % 86_400_000
      let text = write(ms)
      var clock = time_t(ms / 1000)
      gmtime_r(&clock, &parts)
      var wanted = [CChar](repeating: 0, count: 32)
      strftime(&wanted, 32, "%Y-%m-%dT%H:%M:%S", &parts)
      let fraction = String(1000 + ms % 1000).dropFirst()
      let whole = wanted.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      #expect(text == "\(String(decoding: whole, as: UTF8.self)).\(fraction)Z")
      #expect(parse(text) == ((2000...2200).contains(year) ? ms : nil), "\(text)")
    }
  }

  @Test func theSameInstant() {
    for text in [
      "2026-01-15T06:00:00Z", "2026-01-15T07:00:00+01:00", "2026-01-15T06:00:00.000Z",
      "2026-01-15T06:00:00.0Z", "2026-01-15T06:00:00.000000000Z", "2026-01-15T06:00:00+00:00",
      "2026-01-15T06:00:00-00:00", "2026-01-14T18:00:00-12:00", "2026-01-15T20:00:00+14:00",
      "2026-01-15T11:45:00.0+05:45", "2026-01-14T06:01:00-23:59", "2026-01-16T05:59:00+23:59",
    ] {
      #expect(parse(text) == 1_768_456_800_000, "\(text)")
    }
  }

  @Test func fractionsAreCutOff() {
    for (fraction, ms) in [
      ("0", 0), ("1", 100), ("12", 120), ("123", 123), ("1239", 123), ("9999", 999),
      ("000999999", 0), ("001", 1), ("0019", 1), ("123456789", 123),
    ] {
      #expect(parse("2026-01-15T06:00:00.\(fraction)Z") == 1_768_456_800_000 + Int64(ms))
    }
    #expect(parse("2026-01-15T06:00:00.1234567890Z") == nil)
    #expect(parse("2026-01-15T06:00:00.Z") == nil)
    #expect(parse("2026-01-15T06:00:00,5Z") == nil)
  }

  @Test func bounds() {
    #expect(parse("2000-01-01T00:00:00Z") == 946_684_800_000)
    #expect(parse("1999-12-31T23:59:59.999Z") == nil)
    #expect(parse("2000-01-01T00:59:59+01:00") == nil)
    #expect(parse("1999-12-31T23:00:00-01:00") == 946_684_800_000)
    #expect(parse("2200-12-31T23:59:59.999Z") == 7_289_654_399_999)
    #expect(parse("2201-01-01T00:00:00Z") == nil)
    #expect(parse("2201-01-01T00:59:59+01:00") == 7_289_654_399_000)
    for year in ["0000", "0001", "1970", "9999"] {
      #expect(parse("\(year)-01-01T00:00:00Z") == nil)
    }
  }

  /// C101: the zoo of what is nearly ISO 8601.
  @Test func c101Zoo() {
    for text in [
      "", "Z", "2026", "2026-01-15", "2026-01-15T06:00Z", "2026-01-15T06:00:00",
      "2026-01-15T06:00:00.000", "2026-01-15 06:00:00Z", "2026-01-15t06:00:00Z",
      "2026-01-15T06:00:00z", "2026-01-15T06:00:00+0100", "2026-01-15T06:00:00+01",
      "2026-01-15T06:00:00+1:00", "2026-01-15T06:00:00+01:0", "2026-01-15T06:00:00+01:000",
      "2026-01-15T06:00:00+24:00", "2026-01-15T06:00:00+01:60", "2026-01-15T24:00:00Z",
      "2026-01-15T23:60:00Z", "2026-01-15T23:59:60Z", "2026-02-30T06:00:00Z",
      "2026-02-29T06:00:00Z", "2026-00-15T06:00:00Z", "2026-13-15T06:00:00Z",
      "2026-01-00T06:00:00Z", "2026-01-32T06:00:00Z", "2026-04-31T06:00:00Z",
      "2100-02-29T00:00:00Z", "2026-01-15T06:00:00\u{2212}01:00", "2026-01-15T06:00:00Z ",
      " 2026-01-15T06:00:00Z", "2026-01-15T06:00:00ZZ", "2026-01-15T06:00:00+01:00Z",
      "+2026-01-15T06:00:00Z", "-2026-01-15T06:00:00Z", "02026-01-15T06:00:00Z",
      "2026-1-15T06:00:00Z", "2026-01-15T6:00:00Z", "20260115T060000Z", "2026-W03-4T06:00:00Z",
      "2026-015T06:00:00Z", "2026-01-15T06:00:00 Z", "2026-01-15T06.00.00Z",
      "2026-01-15T06:00:00[UTC]", "2026-01-15T06:00:00UTC", "2026/01/15T06:00:00Z",
      "2026-01-15T-6:00:00Z", "2026-01-15T06:00:0\u{661}Z", "1768456800000", "now",
      "2026-01-15T06:00:00.000Z\u{0}", "2026-01-15T06:00:00,000Z", "\u{FEFF}2026-01-15T06:00:00Z",
    ] {
      #expect(parse(text) == nil, "\(text)")
    }
    #expect(parse("2024-02-29T00:00:00Z") != nil)
    #expect(parse("2000-02-29T00:00:00Z") != nil)
  }

  /// One byte changed to any other: read only where it still is an instant, and then as that one.
  @Test func everyByteChanged() {
    let text = Array("2026-01-15T06:00:00.123+01:00".utf8)
    for at in text.indices {
      for byte in UInt8.min...UInt8.max where byte != text[at] {
        var changed = text
        changed[at] = byte
        let got = changed.withUnsafeBytes { Instant.parse($0) }
        let isDigit = (0x30...0x39).contains(text[at]) && (0x30...0x39).contains(byte)
        let isSign = at == 23 && byte == UInt8(ascii: "-")
        if !isDigit && !isSign { #expect(got == nil, "\(at) \(byte)") }
      }
    }
  }

  @Test func integers() {
    let table: [(String, Int64?)] = [
      ("0", 0), ("12", 12), ("-12", -12), ("-0", nil), ("1.0", nil), ("1e3", nil), ("1E0", nil),
      ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("-9223372036854775807", -.max), ("18446744073709551616", nil),
      ("99999999999999999999999999999999", nil),
    ]
    for (text, value) in table {
      #expect(withBytes(text) { JSONText.integer($0) } == value, "\(text)")
    }
  }
}

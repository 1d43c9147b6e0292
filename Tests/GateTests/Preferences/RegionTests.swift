import Testing

@testable import Gate

/// C085: which law applies, for every pair of letters.
@Suite struct RegionTests {
  private static let regulated: Set<String> = [
    "AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE", "IT", "LV",
    "LT", "LU", "MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE",
    "IS", "LI", "NO", "GB", "AX", "GP", "MQ", "GF", "RE", "YT", "MF", "EL", "UK",
  ]

  /// Codes that the reader of this test can check by eye; the rest of the alphabet is no code.
  private static let known: Set<String> = [
    "US", "CH", "CN", "JP", "IN", "BR", "CA", "AU", "NZ", "GI", "GG", "JE", "IM", "TR", "UA", "RU",
    "ZA", "NG", "MX", "AR", "XK", "EU", "AN", "SU", "ZZ", "QQ", "AA",
  ]
  private static let noCode: Set<String> = ["XK", "EU", "AN", "SU", "ZZ", "QQ", "AA"]

  private func isRegulated(_ code: String) -> Bool {
    Policy.builtIn.rules.isRegulated(withBytes(code) { Region($0) })
  }

  @Test func everyPairOfLetters() {
    let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map {
      String(Character(Unicode.Scalar($0)))
    }
    var assigned = 0
    for first in letters {
      for second in letters {
        let code = first + second
        let region = withBytes(code) { Region($0) }
        if region != .unknown { assigned += 1 }
        let law = Self.regulated.contains(code)
        #expect(isRegulated(code) == (law || region == .unknown), "\(code)")
        if law { #expect(region != .unknown, "\(code)") }
      }
    }
    // 249 officially assigned, and the two that are read as others.
    #expect(assigned == 251)
    for code in Self.known { #expect(isRegulated(code) == Self.noCode.contains(code), "\(code)") }
  }

  @Test func anythingElseIsRegulated() {
    for text in ["", "U", "USA", "us", "Us", "uS", "U1", "1S", "  ", "U ", "ÜS", "de"] {
      #expect(withBytes(text) { Region($0) } == .unknown, "\(text)")
      #expect(isRegulated(text), "\(text)")
    }
    #expect(withBytes("EL") { Region($0) } == withBytes("GR") { Region($0) })
    #expect(withBytes("UK") { Region($0) } == withBytes("GB") { Region($0) })
  }
}

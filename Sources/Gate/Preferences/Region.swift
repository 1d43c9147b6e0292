/// Where a device was last seen: an ISO 3166-1 alpha-2 code packed into ten bits, or 0 for a place
/// that is absent or is no such code, which the law of the strictest place governs.
struct Region: Equatable {
  var code: UInt16

  static let unknown = Region(code: 0)
  /// One more than the largest code.
  static let codeCount = 1 << 10

  /// Whether it is written as a code is, assigned or not.
  static func isCode(_ text: Bytes) -> Bool {
    text.count == 2 && text[0] &- 0x41 < 26 && text[1] &- 0x41 < 26
  }

  /// Upper case exactly; `EL` and `UK`, which EU bodies and habit write, are GR and GB.
  @inline(__always)
  init(_ text: Bytes) {
    guard Self.isCode(text) else {
      self = .unknown
      return
    }
    var packed = Self.pack(text[0], text[1])
    if packed == Self.pack(UInt8(ascii: "E"), UInt8(ascii: "L")) {
      packed = Self.pack(UInt8(ascii: "G"), UInt8(ascii: "R"))
    } else if packed == Self.pack(UInt8(ascii: "U"), UInt8(ascii: "K")) {
      packed = Self.pack(UInt8(ascii: "G"), UInt8(ascii: "B"))
    }
    code = Self.isAssigned(packed) ? packed : 0
  }

  private init(code: UInt16) { self.code = code }

  /// A code as a block keeps it.
  init(packed: UInt16) { code = packed }

  /// The code as it is written; nil for none.
  var text: String? {
    guard code != 0 else { return nil }
    return String(
      decoding: [UInt8(code >> 5 & 31) + 0x40, UInt8(code & 31) + 0x40], as: UTF8.self)
  }

  @inline(__always)
  private static func pack(_ first: UInt8, _ second: UInt8) -> UInt16 {
    UInt16(first - 0x40) << 5 | UInt16(second - 0x40)
  }

  private static func isAssigned(_ packed: UInt16) -> Bool {
    assigned[Int(packed >> 5)] & (1 << UInt32(packed & 31)) != 0
  }

  /// A bit for each second letter, by first letter.
  private static let assigned: [UInt32] = bits(iso3166)

  private static func bits(_ codes: StaticString) -> [UInt32] {
    var rows = [UInt32](repeating: 0, count: 32)
    let text = UnsafeBufferPointer(start: codes.utf8Start, count: codes.utf8CodeUnitCount)
    for i in stride(from: 0, to: text.count, by: 3) {
      rows[Int(text[i] - 0x40)] |= 1 << UInt32(text[i + 1] - 0x40)
    }
    return rows
  }

  /// The 27 members of the EU, IS, LI and NO of the EEA, and GB; and EU territory with codes of its
  /// own (Åland and the French outermost regions), which a plain list of members misses.
  static let regulatedByLaw: StaticString = """
    AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE \
    IS LI NO GB AX GP MQ GF RE YT MF
    """

  /// The officially assigned codes of ISO 3166-1 alpha-2.
  private static let iso3166: StaticString = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ \
    EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW \
    GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY \
    KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV \
    MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY \
    QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG \
    TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """
}

/// One user's preferences as an immutable run of 64-bit words, read in place.
///
///     0  hash of the user, low half of the second word | devices | account choices and suppressions
///        | flags | size class
///     1  preference version, 24 bits | offset, 40 bits; where either is larger the flag `wide` is
///        set and two whole words follow
///        account window and zone              (flag `account`)
///        device word, device word             (per device, in document order)
///        count of side words, side words      (flag `side`)
///        device ids, back to back
///
/// A user with one device and nothing unusual takes four words and the id.
struct PackedBlock {
  let words: UnsafePointer<UInt64>

  enum Flag {
    static let account: UInt64 = 1 << 50
    static let side: UInt64 = 1 << 51
    static let wide: UInt64 = 1 << 52
    static let noVersion: UInt64 = 1 << 53
    /// The document could not be read; the block says nothing else.
    static let unreadable: UInt64 = 1 << 54
  }

  static let versionBits: UInt64 = 24
  static let sizeClassShift: UInt64 = 58
  static let devicesMax = 64
  /// The scope of a side word that is the account's.
  static let accountScope = devicesMax

  /// The words of a block that says only that a document could not be read, and where it stood.
  static func unreadable(offset: Int64) -> [UInt64] {
    [Flag.unreadable | Flag.noVersion | Flag.wide, 0, 0, UInt64(offset)]
  }

  private var header: UInt64 { words[0] }

  var hashRemainder: UInt32 { UInt32(truncatingIfNeeded: header) }
  var deviceCount: Int { Int(header >> 32 & 0x7F) }
  var accountChoices: PackedChoices { PackedChoices(bits: UInt8(truncatingIfNeeded: header >> 39)) }
  var accountSuppressions: UInt8 { UInt8(header >> 47 & 0x7) }
  var isUnreadable: Bool { header & Flag.unreadable != 0 }
  var sizeClass: Int { Int(header >> Self.sizeClassShift) }

  private var isWide: Bool { header & Flag.wide != 0 }
  private var hasAccountWord: Bool { header & Flag.account != 0 }

  /// Nil where the document named none.
  var version: Int64? {
    if header & Flag.noVersion != 0 { return nil }
    return Int64(isWide ? words[2] : words[1] & (1 << Self.versionBits - 1))
  }

  var offset: Int64 { Int64(isWide ? words[3] : words[1] >> Self.versionBits) }

  private var afterHeader: Int { isWide ? 4 : 2 }

  var accountPlace: PackedPlace {
    PackedPlace(bits: hasAccountWord ? words[afterHeader] : 0)
  }

  private var devicesAt: Int { afterHeader + (hasAccountWord ? 1 : 0) }

  func device(_ index: Int) -> PackedDevice {
    let at = devicesAt + index * 2
    return PackedDevice(first: words[at], second: words[at + 1])
  }

  func deviceID(_ device: PackedDevice) -> Bytes {
    Bytes(start: UnsafeRawPointer(words) + device.idOffset, count: device.idBytes)
  }

  /// The first device of that id.
  func find(_ id: Bytes) -> Int? {
    for index in 0..<deviceCount where deviceID(device(index)).equals(id) { return index }
    return nil
  }

  // MARK: Side words: what most users do not have

  enum SideKind: UInt64 {
    /// The instant of a dated, sourced `user-on`.
    case consent
    /// The same for SMS.
    case smsConsent
    /// A muted subtype: its length, and its bytes in the words that follow.
    case mute
  }

  static func sideWord(_ kind: SideKind, scope: Int, category: UInt8, value: UInt64) -> UInt64 {
    kind.rawValue | UInt64(scope) << 2 | UInt64(category) << 9 | value << 16
  }

  /// Calls `body` with each side word until it says true; `name` is a mute's.
  @inline(__always)
  private func anySide(
    _ kind: SideKind,
    _ body: (_ scope: Int, _ category: UInt8, _ value: UInt64, _ name: Bytes) -> Bool
  ) -> Bool {
    guard header & Flag.side != 0 else { return false }
    var at = devicesAt + deviceCount * 2
    let end = at + 1 + Int(words[at])
    at += 1
    while at < end {
      let word = words[at]
      at += 1
      let value = word >> 16
      let isMute = word & 3 == SideKind.mute.rawValue
      let name = isMute ? Bytes(start: words + at, count: Int(value)) : Bytes(start: nil, count: 0)
      if isMute { at += (Int(value) + 7) / 8 }
      guard word & 3 == kind.rawValue else { continue }
      if body(Int(word >> 2 & 0x7F), UInt8(word >> 9 & 0x3), value, name) { return true }
    }
    return false
  }

  /// A dated, sourced `user-on` of the account or that device, not after `nowMs`.
  func hasConsent(_ category: Category, device: Int, nowMs: Int64) -> Bool {
    anySide(.consent) { scope, of, at, _ in
      of == category.rawValue && (scope == Self.accountScope || scope == device)
        && Int64(at) <= nowMs
    }
  }

  func hasSMSConsent(nowMs: Int64) -> Bool {
    anySide(.smsConsent) { _, _, at, _ in Int64(at) <= nowMs }
  }

  /// Muted for the account or that device.
  func isMuted(_ subtype: Bytes, _ category: Category, device: Int) -> Bool {
    anySide(.mute) { scope, of, _, name in
      of == category.rawValue && (scope == Self.accountScope || scope == device)
        && name.equals(subtype)
    }
  }
}

/// Four choices of two bits, by category.
struct PackedChoices: Equatable {
  var bits: UInt8 = 0

  subscript(_ category: Category) -> Choice {
    get { Choice(rawValue: bits >> (category.rawValue * 2) & 3) ?? .unset }
    set {
      bits &= ~(3 << (category.rawValue * 2))
      bits |= newValue.rawValue << (category.rawValue * 2)
    }
  }
}

/// A stored window and a zone in 43 bits: an account's word, and the low part of a device's first.
struct PackedPlace {
  var bits: UInt64 = 0

  enum WindowKind: UInt64 {
    case absent, null, set, invalid
  }

  var windowKind: WindowKind { WindowKind(rawValue: bits & 3)! }

  var window: QuietWindow {
    QuietWindow(
      startMinute: UInt16(bits >> 2 & 0x7FF), endMinute: UInt16(bits >> 13 & 0x7FF),
      days: UInt8(bits >> 24 & 0x7F))
  }

  /// 0 where none is named.
  var zone: UInt16 { UInt16(bits >> 31 & 0xFFF) }

  init(bits: UInt64) { self.bits = bits }

  init(windowKind: WindowKind, window: QuietWindow, zone: UInt16) {
    bits = windowKind.rawValue | UInt64(zone) << 31
    // Zero where there is none, so that an account that says nothing takes no word.
    guard windowKind == .set else { return }
    bits |=
      UInt64(window.startMinute) << 2 | UInt64(window.endMinute) << 13 | UInt64(window.days) << 24
  }
}

/// The two words of a device.
struct PackedDevice {
  var first: UInt64
  var second: UInt64

  var place: PackedPlace { PackedPlace(bits: first & (1 << 43 - 1)) }
  var region: UInt16 { UInt16(first >> 43 & 0x3FF) }
  var osPermission: OSPermission { OSPermission(rawValue: UInt8(first >> 53 & 3))! }
  var tokenStatus: TokenStatus { TokenStatus(rawValue: UInt8(first >> 55 & 3))! }
  var platform: Platform { Platform(rawValue: UInt8(first >> 57 & 1))! }

  var choices: PackedChoices { PackedChoices(bits: UInt8(truncatingIfNeeded: second)) }
  var suppressions: UInt8 { UInt8(second >> 8 & 0x7) }
  var idBytes: Int { Int(second >> 11 & 0x7F) + 1 }
  var idOffset: Int { Int(second >> 18 & 0xFF_FFFF) }

  init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  init(
    place: PackedPlace, region: Region, osPermission: OSPermission, tokenStatus: TokenStatus,
    platform: Platform, choices: PackedChoices, suppressions: UInt8, idBytes: Int, idOffset: Int
  ) {
    first =
      place.bits | UInt64(region.code) << 43 | UInt64(osPermission.rawValue) << 53
      | UInt64(tokenStatus.rawValue) << 55 | UInt64(platform.rawValue) << 57
    second =
      UInt64(choices.bits) | UInt64(suppressions) << 8 | UInt64(idBytes - 1) << 11
      | UInt64(idOffset) << 18
  }
}

/// One user's preferences as an immutable run of 64-bit words, read in place.
///
///     0  hash of the user, low half of the second word | devices | account choices and suppressions
///        | flags | count of side words | size class
///     1  preference version, 24 bits | offset, 40 bits; where either is larger the flag `wide` is
///        set and two whole words follow
///        offset of the user's erasure         (flag `erasedBefore`)
///        account window and zone              (flag `account`)
///        device word                          (per device, in document order)
///        count of side words                  (where the header's three bits say "many")
///        side words
///        device ids, back to back
///
/// A user with one device and nothing unusual takes three words and the id.
struct PackedBlock {
  let words: UnsafePointer<UInt64>

  enum Flag {
    static let account: UInt64 = 1 << 50
    /// The user was erased and is back.
    static let erasedBefore: UInt64 = 1 << 51
    static let wide: UInt64 = 1 << 52
    static let noVersion: UInt64 = 1 << 53
    /// The document could not be read; the block says nothing else.
    static let unreadable: UInt64 = 1 << 54
  }

  static let versionBits: UInt64 = 24
  static let sideCountShift: UInt64 = 55
  /// In the header's place for a count: the count has a word of its own.
  static let manySideWords = 7
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

  /// Where the table adds the erasure to a document's words.
  private var erasureAt: Int { isWide ? 4 : 2 }

  /// Where the newest erasure of this user stands on the topic, before this document; nil where the
  /// table has seen none.
  var erasedOffset: Int64? {
    header & Flag.erasedBefore == 0 ? nil : Int64(words[erasureAt])
  }

  /// What was decided by the document at that offset was decided before the user's erasure.
  func isErased(since offset: Int64) -> Bool { erasedOffset.map { offset < $0 } ?? false }

  /// A document's words with the erasure before it.
  static func adding(erasedOffset: Int64, to words: [UInt64]) -> [UInt64] {
    var words = words
    words[0] |= Flag.erasedBefore
    words.insert(UInt64(erasedOffset), at: words[0] & Flag.wide != 0 ? 4 : 2)
    return words
  }

  private var afterHeader: Int { erasureAt + (header & Flag.erasedBefore == 0 ? 0 : 1) }

  var accountPlace: PackedPlace {
    PackedPlace(bits: hasAccountWord ? words[afterHeader] : 0)
  }

  private var devicesAt: Int { afterHeader + (hasAccountWord ? 1 : 0) }

  @inline(__always)
  func device(_ index: Int) -> PackedDevice {
    var device = PackedDevice(word: words[devicesAt + index])
    if device.place.windowKind == .set { device.place.bits |= windowBits(ofDevice: index) }
    return device
  }

  private func windowBits(ofDevice index: Int) -> UInt64 {
    var bits: UInt64 = 0
    _ = anySide(.window) { scope, _, value, _ in
      guard scope == index else { return false }
      bits = value << PackedPlace.windowShift
      return true
    }
    return bits
  }

  func deviceID(_ device: PackedDevice) -> Bytes { id(device, from: idsAt) }

  @inline(__always)
  private func id(_ device: PackedDevice, from idsAt: Int) -> Bytes {
    Bytes(start: UnsafeRawPointer(words + idsAt) + device.idOffset, count: device.idBytes)
  }

  private var idsAt: Int {
    let side = sideWords
    return side.start + side.count
  }

  /// The first device of that id.
  func find(_ id: Bytes) -> Int? {
    let idsAt = idsAt
    for index in 0..<deviceCount
    where self.id(PackedDevice(word: words[devicesAt + index]), from: idsAt).equals(id) {
      return index
    }
    return nil
  }

  /// Categories that the account has switched off.
  var accountOffs: CategorySet {
    var offs = CategorySet()
    let choices = accountChoices
    for category in Category.allCases where choices[category] == .userOff { offs.insert(category) }
    return offs
  }

  // MARK: Side words: what most users do not have

  enum SideKind: UInt64 {
    /// The instant of a dated, sourced `user-on`.
    case consent
    /// The same for SMS.
    case smsConsent
    /// A muted subtype: its length, and its bytes in the words that follow.
    case mute
    /// A device's own window.
    case window
  }

  private var sideWords: (start: Int, count: Int) {
    let count = Int(header >> Self.sideCountShift & 0x7)
    let at = devicesAt + deviceCount
    return count == Self.manySideWords ? (at + 1, Int(words[at])) : (at, count)
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
    var (at, count) = sideWords
    let end = at + count
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

  /// For looking at a block.
  func forEachSide(
    _ kind: SideKind,
    _ body: (_ scope: Int, _ category: Category, _ value: UInt64, _ name: Bytes) -> Void
  ) {
    _ = anySide(kind) { scope, category, value, name in
      body(scope, Category(rawValue: category)!, value, name)
      return false
    }
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

/// A stored window and a zone in 43 bits: an account's word. A device's word has the kind and the
/// zone, and the few devices that have a window of their own have the rest of it in a side word.
struct PackedPlace {
  var bits: UInt64 = 0

  enum WindowKind: UInt64 {
    case absent, null, set, invalid
  }

  static let windowShift: UInt64 = 2
  static let zoneShift: UInt64 = 31
  static let zoneMask: UInt64 = 0xFFF << zoneShift

  var windowKind: WindowKind { WindowKind(rawValue: bits & 3)! }

  var window: QuietWindow {
    QuietWindow(
      startMinute: UInt16(bits >> 2 & 0x7FF), endMinute: UInt16(bits >> 13 & 0x7FF),
      days: UInt8(bits >> 24 & 0x7F))
  }

  /// The window alone, for a side word; 0 where there is none.
  var windowBits: UInt64 { bits >> Self.windowShift & 0x1FFF_FFFF }

  /// 0 where none is named.
  var zone: UInt16 { UInt16(bits >> Self.zoneShift & 0xFFF) }

  init(bits: UInt64) { self.bits = bits }

  init(windowKind: WindowKind, window: QuietWindow, zone: UInt16) {
    bits = windowKind.rawValue | UInt64(zone) << Self.zoneShift
    // Zero where there is none, so that an account that says nothing takes no word.
    guard windowKind == .set else { return }
    bits |=
      UInt64(window.startMinute) << 2 | UInt64(window.endMinute) << 13 | UInt64(window.days) << 24
  }
}

/// The word of a device: where its id begins and the id's length, choices, suppressions, zone, kind
/// of window, region, permission, token and platform.
struct PackedDevice {
  private let word: UInt64
  /// Without the window, until the block that has it adds it.
  var place: PackedPlace

  private static let kindShift: UInt64 = 43
  /// Of the ids of a block: the last of 64 begins below 64 times 128.
  private static let idOffsetMask: UInt64 = 0x1FFF

  init(word: UInt64) {
    self.word = word
    place = PackedPlace(bits: word & PackedPlace.zoneMask | word >> Self.kindShift & 3)
  }

  /// From the first byte of the block's ids.
  var idOffset: Int { Int(word & Self.idOffsetMask) }
  var idBytes: Int { Int(word >> 13 & 0x7F) + 1 }
  var choices: PackedChoices { PackedChoices(bits: UInt8(truncatingIfNeeded: word >> 20)) }
  var suppressions: UInt8 { UInt8(word >> 28 & 0x7) }
  var region: UInt16 { UInt16(word >> 45 & 0x3FF) }
  var osPermission: OSPermission { OSPermission(rawValue: UInt8(word >> 55 & 3))! }
  var tokenStatus: TokenStatus { TokenStatus(rawValue: UInt8(word >> 57 & 3))! }
  var platform: Platform { Platform(rawValue: UInt8(word >> 59 & 1))! }

  static func pack(
    place: PackedPlace, region: Region, osPermission: OSPermission, tokenStatus: TokenStatus,
    platform: Platform, choices: PackedChoices, suppressions: UInt8, idBytes: Int, idOffset: Int
  ) -> UInt64 {
    let id = UInt64(idOffset) | UInt64(idBytes - 1) << 13
    let choice = UInt64(choices.bits) << 20 | UInt64(suppressions) << 28
    let zone = place.bits & PackedPlace.zoneMask | place.windowKind.rawValue << kindShift
    let able =
      UInt64(region.code) << 45 | UInt64(osPermission.rawValue) << 55
      | UInt64(tokenStatus.rawValue) << 57 | UInt64(platform.rawValue) << 59
    return id | choice | zone | able
  }
}

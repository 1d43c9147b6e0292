import Glibc

/// A document on its way into words; reused, so that a restore of millions does not allocate for
/// each.
struct DocumentDraft {
  struct Window {
    var kind = PackedPlace.WindowKind.absent
    var value = QuietWindow(startMinute: 0, endMinute: 0)
  }

  struct Scope {
    var choices = PackedChoices()
    var suppressions: UInt8 = 0
    var zone: UInt16 = 0
    var quietHours = Window()

    var packed: PackedPlace {
      PackedPlace(windowKind: quietHours.kind, window: quietHours.value, zone: zone)
    }
  }

  struct Device {
    var id: Bytes?
    var platform: Platform?
    var osPermission: OSPermission?
    var tokenStatus: TokenStatus?
    var region = Region.unknown
    var scope = Scope()
  }

  var userID: Bytes?
  var version: Int64?
  var account = Scope()
  var devices: [Device] = []
  var notes: DocumentNotes = []
  var oversights: DocumentOversights = []
  /// The last zone id that the tz database does not have; nil where it was no string.
  var unknownZone: Bytes?
  private var side: [UInt64] = []
  private(set) var words: [UInt64] = []

  mutating func reset() {
    userID = nil
    version = nil
    account = Scope()
    devices.removeAll(keepingCapacity: true)
    notes = []
    oversights = []
    unknownZone = nil
    side.removeAll(keepingCapacity: true)
    words.removeAll(keepingCapacity: true)
  }

  mutating func addConsent(_ atMs: Int64, scope: Int, category: Category) {
    side.append(
      PackedBlock.sideWord(.consent, scope: scope, category: category.rawValue, value: UInt64(atMs))
    )
  }

  mutating func addSMSConsent(_ atMs: Int64) {
    side.append(
      PackedBlock.sideWord(
        .smsConsent, scope: PackedBlock.accountScope, category: 0, value: UInt64(atMs)))
  }

  mutating func addMute(_ subtype: Bytes, scope: Int, category: Category) {
    side.append(
      PackedBlock.sideWord(
        .mute, scope: scope, category: category.rawValue, value: UInt64(subtype.count)))
    Self.append(subtype, to: &side)
  }

  private static func append(_ bytes: Bytes, to words: inout [UInt64]) {
    for at in stride(from: 0, to: bytes.count, by: 8) {
      var word: UInt64 = 0
      memcpy(&word, bytes.baseAddress! + at, min(8, bytes.count - at))
      words.append(word)
    }
  }

  /// Lays the words out; the hash and the size class are the table's to fill in.
  mutating func pack(offset: Int64) {
    for (index, device) in devices.enumerated() where device.scope.quietHours.kind == .set {
      side.append(
        PackedBlock.sideWord(
          .window, scope: index, category: 0, value: device.scope.packed.windowBits))
    }
    // A zone that every device names too adds nothing: it is asked for after the device's own.
    if devices.allSatisfy({ $0.scope.zone == account.zone }) { account.zone = 0 }
    let place = account.packed
    packHeader(offset: offset, hasAccountWord: place.bits != 0)
    if place.bits != 0 { words.append(place.bits) }
    let devicesAt = words.count
    words.append(contentsOf: repeatElement(0, count: devices.count))
    if side.count >= PackedBlock.manySideWords { words.append(UInt64(side.count)) }
    words.append(contentsOf: side)
    packDevices(at: devicesAt)
  }

  private mutating func packHeader(offset: Int64, hasAccountWord: Bool) {
    let packedVersion = UInt64(version ?? 0)
    let packedOffset = UInt64(offset)
    let isWide =
      packedVersion >> PackedBlock.versionBits != 0
      || packedOffset >> (64 - PackedBlock.versionBits) != 0
    var header = UInt64(devices.count) << 32 | UInt64(account.choices.bits) << 39
    header |= UInt64(account.suppressions) << 47
    header |= UInt64(min(side.count, PackedBlock.manySideWords)) << PackedBlock.sideCountShift
    if hasAccountWord { header |= PackedBlock.Flag.account }
    if isWide { header |= PackedBlock.Flag.wide }
    if version == nil { header |= PackedBlock.Flag.noVersion }

    words.append(header)
    if isWide {
      words.append(0)
      words.append(packedVersion)
      words.append(packedOffset)
    } else {
      words.append(packedVersion | packedOffset << PackedBlock.versionBits)
    }
  }

  /// Ids stand back to back behind everything else; their offsets count from the first.
  private mutating func packDevices(at devicesAt: Int) {
    var idBytes = 0
    let idsAt = words.count
    for device in devices { idBytes += device.id!.count }
    words.append(contentsOf: repeatElement(0, count: (idBytes + 7) / 8))
    var at = 0
    for (index, device) in devices.enumerated() {
      let id = device.id!
      words.withUnsafeMutableBytes { $0.baseAddress! + idsAt * 8 + at }
        .copyMemory(from: id.baseAddress!, byteCount: id.count)
      words[devicesAt + index] = PackedDevice.pack(
        place: device.scope.packed, region: device.region, osPermission: device.osPermission!,
        tokenStatus: device.tokenStatus!, platform: device.platform!,
        choices: device.scope.choices, suppressions: device.scope.suppressions,
        idBytes: id.count, idOffset: at)
      at += id.count
    }
  }
}

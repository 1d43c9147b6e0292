/// What the table holds of one user, taken apart for somebody to look at. Decisions read the block in
/// place and never this.
public struct PreferenceView: Sendable, Equatable {
  /// What the account and a device have alike.
  public struct Scope: Sendable, Equatable {
    public var choices: [Category: Choice] = [:]
    /// When a dated, sourced `user-on` was made, milliseconds since the epoch.
    public var consents: [Category: Int64] = [:]
    public var suppressions: [Suppression] = []
    public var window = Window.absent
    /// Of `ZonePublisher`; 0: none. The account's is not kept where all devices name it too.
    public var zone: UInt16 = 0
    /// Subtypes, in the order of the document.
    public var mutes: [Category: [String]] = [:]
  }

  public enum Window: Sendable, Equatable {
    case absent, null, invalid
    case set(startMinute: UInt16, endMinute: UInt16, days: UInt8)
  }

  public struct Device: Sendable, Equatable {
    public var id: String
    public var platform: Platform
    public var osPermission: OSPermission
    public var tokenStatus: TokenStatus
    /// ISO 3166-1 alpha-2; nil: none, or no such code.
    public var region: String?
    public var scope: Scope
  }

  /// Nil where the document named none.
  public var version: Int64?
  /// Of the document on `preferences.state`.
  public var offset: Int64
  /// The document could not be read, and nothing else is known.
  public var isUnreadable: Bool
  public var account = Scope()
  public var smsConsentAtMs: Int64?
  public var devices: [Device] = []

  init(_ block: PackedBlock) {
    version = block.version
    offset = block.offset
    isUnreadable = block.isUnreadable
    guard !isUnreadable else { return }
    account.choices = Self.choices(block.accountChoices)
    account.suppressions = Self.suppressions(block.accountSuppressions)
    account.window = Self.window(block.accountPlace)
    account.zone = block.accountPlace.zone
    for index in 0..<block.deviceCount {
      let device = block.device(index)
      var scope = Scope()
      scope.choices = Self.choices(device.choices)
      scope.suppressions = Self.suppressions(device.suppressions)
      scope.window = Self.window(device.place)
      scope.zone = device.place.zone
      devices.append(
        Device(
          id: String(decoding: block.deviceID(device), as: UTF8.self), platform: device.platform,
          osPermission: device.osPermission, tokenStatus: device.tokenStatus,
          region: Region(packed: device.region).text, scope: scope))
    }
    readSideWords(of: block)
  }

  private mutating func readSideWords(of block: PackedBlock) {
    var view = self
    block.forEachSide(.consent) { scope, category, value, _ in
      view.change(scope) { $0.consents[category] = Int64(value) }
    }
    block.forEachSide(.mute) { scope, category, _, name in
      view.change(scope) {
        $0.mutes[category, default: []].append(String(decoding: name, as: UTF8.self))
      }
    }
    block.forEachSide(.smsConsent) { _, _, value, _ in view.smsConsentAtMs = Int64(value) }
    self = view
  }

  private mutating func change(_ scope: Int, _ body: (inout Scope) -> Void) {
    if scope == PackedBlock.accountScope { body(&account) } else { body(&devices[scope].scope) }
  }

  private static func choices(_ packed: PackedChoices) -> [Category: Choice] {
    var choices: [Category: Choice] = [:]
    for category in Category.allCases where packed[category] != .unset {
      choices[category] = packed[category]
    }
    return choices
  }

  private static func suppressions(_ mask: UInt8) -> [Suppression] {
    Suppression.allCases.filter { mask & 1 << $0.rawValue != 0 }
  }

  private static func window(_ place: PackedPlace) -> Window {
    switch place.windowKind {
    case .absent: .absent
    case .null: .null
    case .invalid: .invalid
    case .set:
      .set(
        startMinute: place.window.startMinute, endMinute: place.window.endMinute,
        days: place.window.days)
    }
  }
}

extension PreferenceTable {
  /// What the table holds of a user; nil where it holds nothing. By the writing thread, or where no
  /// thread writes.
  public func view(of user: String) -> PreferenceView? {
    Array(user.utf8).withUnsafeBytes { user in
      let hash = hash(user)
      guard let block = find(hash), confirm(block, hash) else { return nil }
      return PreferenceView(block)
    }
  }
}

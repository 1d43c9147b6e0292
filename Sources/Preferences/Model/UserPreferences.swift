import Gate

/// A subtype of a category.
public struct Subtype: Hashable, Sendable {
  public var category: Category
  public var name: Identifier

  public init(_ category: Category, _ name: Identifier) {
    self.category = category
    self.name = name
  }
}

/// What a user set for all devices.
public struct AccountPreferences: Equatable, Sendable {
  public var choices: [Category: CategoryChoice] = [:]
  /// Whether each is muted; false: it was, and is no longer.
  public var mutes: [Subtype: Stamped<Bool>] = [:]
  public var quietHours: Stamped<WindowSetting>?
  public var timezone: Stamped<ZoneSetting>?
  public var suppressions: [Suppression: Stamped<Bool>] = [:]
  /// The SMS ledger's present entry; push consent never stands in for it (requirements L3).
  public var sms: Stamped<Choice>?

  public init() {}

  public var activeSuppressions: [Suppression] {
    Suppression.allCases.filter { suppressions[$0]?.value == true }
  }
}

/// Everything kept of one user but the audit. A value: no I/O, no clock.
public struct UserPreferences: Equatable, Sendable {
  public let userID: Identifier
  /// Of the document made of this state; rises by one with each change of the document.
  public var version: Int64
  public var account = AccountPreferences()
  public var devices: [Identifier: DevicePreferences] = [:]

  public init(userID: Identifier, version: Int64 = 0) {
    self.userID = userID
    self.version = version
  }
}

/// Whose field an event or an audit row is about.
public enum PreferenceScope: Hashable, Sendable {
  case account
  case device(Identifier)

  public var deviceID: Identifier? {
    if case .device(let id) = self { return id }
    return nil
  }
}

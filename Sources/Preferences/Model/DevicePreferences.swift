import Gate

/// What a device says of itself each time the app comes to the foreground; one group, set whole.
public struct DeviceSync: Hashable, Sendable {
  public var platform: Platform
  public var osPermission: OSPermission
  /// Nil: the device named none.
  public var timezone: Identifier?
  /// As the device wrote it; what is no assigned code counts as regulated.
  public var region: Identifier?

  public init(
    platform: Platform, osPermission: OSPermission, timezone: Identifier? = nil,
    region: Identifier? = nil
  ) {
    self.platform = platform
    self.osPermission = osPermission
    self.timezone = timezone
    self.region = region
  }
}

extension DeviceSync: Ranked {
  /// `denied` before `provisional` before `granted`; then a fixed order of the rest.
  public static func isStricter(_ a: DeviceSync, _ b: DeviceSync) -> Bool {
    if a.osPermission != b.osPermission { return a.osPermission.rank < b.osPermission.rank }
    if a.platform != b.platform { return a.platform.rawValue < b.platform.rawValue }
    if a.region != b.region { return first(a.region, b.region) }
    return first(a.timezone, b.timezone)
  }

  /// No region is regulated, so none comes first.
  private static func first(_ a: Identifier?, _ b: Identifier?) -> Bool {
    guard let a, let b else { return a == nil }
    return a < b
  }
}

extension OSPermission {
  fileprivate var rank: Int {
    switch self {
    case .denied: 0
    case .provisional: 1
    case .granted: 2
    }
  }
}

/// One user's preferences and state on one device. A device that the user no longer has is kept, with
/// the choices made there: whoever signs in on it again finds them as they were.
public struct DevicePreferences: Equatable, Sendable {
  public var choices: [Category: CategoryChoice] = [:]
  /// Nil: never set, which is the account's.
  public var quietHours: Stamped<WindowSetting>?
  public var suppressions: [Suppression: Stamped<Bool>] = [:]
  /// Nil: only choices are known so far, the device itself has not been seen.
  public var sync: Stamped<DeviceSync>?
  /// Nil: nothing was said of the token, which counts as active.
  public var token: Stamped<TokenStatus>?
  /// When the app was first, and last, in the foreground for this user.
  public var firstSeenMs: Int64?
  public var lastSeenMs: Int64?
  /// The latest instant at which the user removed it.
  public var removedMs: Int64?
  /// Whether this user's claim to the device is the latest of all users' (requirements D1).
  public var isHeld = false

  public init() {}

  /// Whether it stands in the user's document: seen, not removed since, and nobody else's.
  public var isPresent: Bool {
    guard sync != nil, isHeld, let lastSeenMs else { return false }
    return removedMs.map { lastSeenMs > $0 } ?? true
  }

  public var tokenStatus: TokenStatus { token?.value ?? .active }

  public var activeSuppressions: [Suppression] {
    Suppression.allCases.filter { suppressions[$0]?.value == true }
  }
}

/// What is known of a device whoever uses it.
public struct SharedDevice: Equatable, Sendable {
  public let deviceID: Identifier
  /// Whose claim is the latest; nil where that user was erased, or nobody has claimed it yet.
  public var holder: Identifier?
  /// When that claim was made. It outlives the holder, so that an earlier claim does not come back.
  public var claimedAtMs: Int64?
  /// The first time that the system's permission prompt was shown (requirements P1).
  public var prompt: PromptShown?

  public init(
    deviceID: Identifier, holder: Identifier? = nil, claimedAtMs: Int64? = nil,
    prompt: PromptShown? = nil
  ) {
    self.deviceID = deviceID
    self.holder = holder
    self.claimedAtMs = claimedAtMs
    self.prompt = prompt
  }
}

/// That the system's permission prompt was shown: when, and at which moment of value.
public struct PromptShown: Equatable, Sendable {
  public var atMs: Int64
  public var moment: Identifier

  public init(atMs: Int64, moment: Identifier) {
    self.atMs = atMs
    self.moment = moment
  }
}

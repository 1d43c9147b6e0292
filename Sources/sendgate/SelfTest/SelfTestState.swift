import Gate

/// The states of a device that the self-test puts its users into, a user each, and what must come of
/// each.
enum SelfTestState: String, CaseIterable, Sendable {
  /// A token that works: what may be sent is approved.
  case active
  /// A token that does not work any more.
  case expired
  /// The system lets nothing through.
  case denied

  var userID: String { "\(SelfTestUser.prefix)\(rawValue)" }
  var deviceID: String { "\(userID)-device" }

  var device: Device {
    switch self {
    case .active: Device(platform: "ios", osPermission: "granted", tokenStatus: "active")
    case .expired: Device(platform: "android", osPermission: "granted", tokenStatus: "expired")
    case .denied: Device(platform: "ios", osPermission: "denied", tokenStatus: "active")
    }
  }

  /// What the device is before, so that each run changes something: whatever still goes by an earlier
  /// run's document is seen by its version, and by what it says.
  var deviceBefore: Device {
    var before = device
    switch self {
    case .active: before.tokenStatus = "expired"
    case .expired: before.tokenStatus = "active"
    case .denied: before.osPermission = "granted"
    }
    return before
  }

  struct Device: Equatable, Sendable {
    var platform: String
    var osPermission: String
    var tokenStatus: String
  }

  var outcome: String { self == .active ? "approved" : "dropped" }

  var reason: String {
    switch self {
    case .active: "ok"
    case .expired: "token_expired"
    case .denied: "os_permission_denied"
    }
  }

  var blockedBy: [String] { self == .active ? [] : [reason] }

  /// Of the category's toggle in the device's settings: a token is nothing that a user can switch.
  var toggle: String { self == .denied ? "blocked_at_os_level" : "on" }
}

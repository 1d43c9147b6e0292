/// One choice of the user (requirements C4).
public enum Choice: UInt8, CaseIterable, Sendable {
  case unset, userOn, userOff

  public var name: StaticString {
    switch self {
    case .unset: "default"
    case .userOn: "user-on"
    case .userOff: "user-off"
    }
  }
}

/// Strictest first, which is the order they are named in.
public enum Suppression: UInt8, CaseIterable, Sendable {
  case legalHold, abuseHold, bounced

  public var name: StaticString {
    switch self {
    case .legalHold: "legal_hold"
    case .abuseHold: "abuse_hold"
    case .bounced: "bounced"
    }
  }
}

public enum OSPermission: UInt8, CaseIterable, Sendable {
  case granted, denied, provisional

  public var name: StaticString {
    switch self {
    case .granted: "granted"
    case .denied: "denied"
    case .provisional: "provisional"
    }
  }
}

public enum TokenStatus: UInt8, CaseIterable, Sendable {
  case active, expired, revoked

  public var name: StaticString {
    switch self {
    case .active: "active"
    case .expired: "expired"
    case .revoked: "revoked"
    }
  }
}

public enum Platform: UInt8, CaseIterable, Sendable {
  case ios, android

  public var name: StaticString {
    switch self {
    case .ios: "ios"
    case .android: "android"
    }
  }
}

/// Who made a choice (requirements C5).
public enum ChoiceSource: UInt8, CaseIterable, Sendable {
  case inAppSettings, osSettingsSync, unsubscribeLink, adminOverride

  public var name: StaticString {
    switch self {
    case .inAppSettings: "in_app_settings"
    case .osSettingsSync: "os_settings_sync"
    case .unsubscribeLink: "unsubscribe_link"
    case .adminOverride: "admin_override"
    }
  }
}

/// One choice of the user (requirements C4).
enum Choice: UInt8, CaseIterable {
  case unset, userOn, userOff

  var name: StaticString {
    switch self {
    case .unset: "default"
    case .userOn: "user-on"
    case .userOff: "user-off"
    }
  }
}

/// Strictest first, which is the order they are named in.
enum Suppression: UInt8, CaseIterable {
  case legalHold, abuseHold, bounced

  var name: StaticString {
    switch self {
    case .legalHold: "legal_hold"
    case .abuseHold: "abuse_hold"
    case .bounced: "bounced"
    }
  }
}

enum OSPermission: UInt8, CaseIterable {
  case granted, denied, provisional

  var name: StaticString {
    switch self {
    case .granted: "granted"
    case .denied: "denied"
    case .provisional: "provisional"
    }
  }
}

enum TokenStatus: UInt8, CaseIterable {
  case active, expired, revoked

  var name: StaticString {
    switch self {
    case .active: "active"
    case .expired: "expired"
    case .revoked: "revoked"
    }
  }
}

enum Platform: UInt8, CaseIterable {
  case ios, android

  var name: StaticString {
    switch self {
    case .ios: "ios"
    case .android: "android"
    }
  }
}

/// Who made a choice (requirements C5).
enum ChoiceSource: UInt8, CaseIterable {
  case inAppSettings, osSettingsSync, unsubscribeLink, adminOverride

  var name: StaticString {
    switch self {
    case .inAppSettings: "in_app_settings"
    case .osSettingsSync: "os_settings_sync"
    case .unsubscribeLink: "unsubscribe_link"
    case .adminOverride: "admin_override"
    }
  }
}

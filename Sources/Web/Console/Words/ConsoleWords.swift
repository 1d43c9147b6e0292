import Gate

/// A table of texts in both languages. `{name}` is filled in by `ConsoleWords`.
protocol Bilingual: CaseIterable, Sendable {
  var words: (english: String, chinese: String) { get }
}

/// What the console says in one language.
struct ConsoleWords: Sendable {
  let language: PageLanguage

  /// - Parameter values: what stands in place of `{name}`.
  subscript(_ phrase: some Bilingual, _ values: (name: String, value: String)...) -> String {
    var text = language == .english ? phrase.words.english : phrase.words.chinese
    for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
    return text
  }

  subscript(_ words: ReasonRegistry.Words) -> String { words[language] }

  func category(_ name: String?) -> String {
    guard let name else { return self[StoryPhrase.noCategory] }
    guard let known = Category.allCases.first(where: { "\($0.name)" == name }) else { return name }
    return PageWords(language: language).name(known)
  }

  func outcome(_ outcome: Outcome) -> String {
    switch outcome {
    case .approved: self[StoryPhrase.approved]
    case .deferred: self[StoryPhrase.deferred]
    case .dropped: self[StoryPhrase.dropped]
    }
  }

  /// A value of a closed set in words; one that is not in it as it is.
  func value(_ raw: String?) -> String {
    guard let raw else { return self[ValuePhrase.nothing] }
    guard let known = ValuePhrase(rawValue: raw) else { return raw }
    return self[known]
  }

  func list(_ texts: [String]) -> String {
    texts.joined(separator: language == .english ? ", " : "、")
  }

  /// A sentence that a reason's words and a code's name are part of.
  func sentence(_ texts: [String]) -> String {
    texts.joined(separator: language == .english ? "; " : "；")
  }
}

/// Values of records and of the audit, by the name that stands there.
enum ValuePhrase: String, Bilingual {
  case nothing = ""
  case userOn = "user-on"
  case userOff = "user-off"
  case unset = "default"
  case granted, denied, provisional
  case active, expired, revoked
  case ios, android, apns, fcm
  case device, account, fallback
  case legalHold = "legal_hold"
  case abuseHold = "abuse_hold"
  case bounced
  case tap
  case badgeClear = "badge_clear"
  case passive
  case timeSensitive = "time-sensitive"
  case critical, allowed, forbidden
  case mon, tue, wed, thu, fri, sat, sun
  // The audit.
  case choice
  case linkMute = "link_mute"
  case subtypeMute = "subtype_mute"
  case quietHours = "quiet_hours"
  case timezone
  case smsConsent = "sms_consent"
  case deviceClaimed = "device_claimed"
  case deviceLost = "device_lost"
  case deviceRemoved = "device_removed"
  case deviceSync = "device_sync"
  case tokenStatus = "token_status"
  case suppression
  case promptShown = "permission_prompt_shown"
  case defaultSet = "default_set"
  case erasure, unreadable
  case applied, confirmed, unchanged, late, refused
  case inAppSettings = "in_app_settings"
  case osSettingsSync = "os_settings_sync"
  case unsubscribeLink = "unsubscribe_link"
  case adminOverride = "admin_override"
  case muted, unmuted, set, cleared, held, removed, elsewhere, none, inherit
  case mutedByLink = "muted_by_link"
  case undone

  var words: (english: String, chinese: String) {
    switch self {
    case .nothing: ("nothing", "无")
    case .userOn: ("on, by the user", "用户打开")
    case .userOff: ("off, by the user", "用户关闭")
    case .unset: ("not chosen", "未选择")
    case .granted: ("granted", "已允许")
    case .denied: ("denied", "已拒绝")
    case .provisional: ("provisional", "临时允许")
    case .active: ("active", "有效")
    case .expired: ("expired", "已过期")
    case .revoked: ("revoked", "已撤销")
    case .ios: ("iOS", "iOS 系统")
    case .android: ("Android", "Android 系统")
    case .apns: ("APNs", "苹果推送（APNs）")
    case .fcm: ("FCM", "谷歌推送（FCM）")
    case .device: ("of the device", "设备的")
    case .account: ("of the account", "账户的")
    case .fallback: ("the policy's fallback", "策略的备用时区")
    case .legalHold: ("legal hold", "法律保留")
    case .abuseHold: ("abuse hold", "滥用限制")
    case .bounced: ("bounced", "被退回")
    case .tap: ("by a tap", "点按")
    case .badgeClear: ("by clearing the badge", "清除角标")
    case .passive: ("quietly", "静默")
    case .timeSensitive: ("time-sensitive", "时效性")
    case .critical: ("critical", "紧急")
    case .allowed: ("allowed", "允许")
    case .forbidden: ("forbidden", "禁止")
    case .mon: ("Mon", "周一")
    case .tue: ("Tue", "周二")
    case .wed: ("Wed", "周三")
    case .thu: ("Thu", "周四")
    case .fri: ("Fri", "周五")
    case .sat: ("Sat", "周六")
    case .sun: ("Sun", "周日")
    case .choice: ("Choice", "选择")
    case .linkMute: ("Unsubscribe link", "退订链接")
    case .subtypeMute: ("Mute of a kind", "某类消息的静音")
    case .quietHours: ("Quiet hours", "免打扰时段")
    case .timezone: ("Time zone", "时区")
    case .smsConsent: ("SMS consent", "短信同意")
    case .deviceClaimed: ("Device came to the user", "设备归于该用户")
    case .deviceLost: ("Device went to another user", "设备转归其他用户")
    case .deviceRemoved: ("Device removed", "设备已移除")
    case .deviceSync: ("State of the device", "设备状态")
    case .tokenStatus: ("Push token", "推送令牌")
    case .suppression: ("Restriction", "限制")
    case .promptShown: ("System's permission prompt", "系统权限弹窗")
    case .defaultSet: ("Default", "默认设置")
    case .erasure: ("Erasure", "删除")
    case .unreadable: ("Event that could not be read", "无法读取的事件")
    case .applied: ("in force", "已生效")
    case .confirmed: ("said again", "再次确认")
    case .unchanged: ("no change", "无变化")
    case .late: ("came late, changes nothing", "迟到，未改变任何内容")
    case .refused: ("refused", "已拒绝执行")
    case .inAppSettings: ("in the app", "在应用中")
    case .osSettingsSync: ("synced from the system", "由系统同步")
    case .unsubscribeLink: ("by an unsubscribe link", "通过退订链接")
    case .adminOverride: ("by an administrator", "由管理员")
    case .muted: ("muted", "已静音")
    case .unmuted: ("not muted", "未静音")
    case .set: ("set", "已设置")
    case .cleared: ("cleared", "已解除")
    case .held: ("with this user", "归该用户")
    case .removed: ("removed", "已移除")
    case .elsewhere: ("with another user", "归其他用户")
    case .none: ("none", "没有")
    case .inherit: ("the account's", "沿用账户的")
    case .mutedByLink: ("muted by link", "通过链接静音")
    case .undone: ("undone", "已撤回")
    }
  }
}

import Gate

/// How values stand in the audit: short, for people, and read back by `AuditHistory`.
enum AuditText {
  static let linkMuted = "muted_by_link"
  static let linkUndone = "undone"
  static let held = "held"
  static let removed = "removed"
  static let elsewhere = "elsewhere"
  static let nothingToUndo = "nothing_to_undo"
  static let deviceAbsent = "device_not_present"
  static let forgotten = "forgotten"
  static let tooManyDevices = "too_many_devices"

  static func mute(_ isMuted: Bool) -> String { isMuted ? "muted" : "unmuted" }

  static func suppression(_ isSet: Bool) -> String { isSet ? "set" : "cleared" }

  static func zone(_ setting: ZoneSetting) -> String { setting.zone?.text ?? "none" }

  static func window(_ setting: WindowSetting) -> String {
    switch setting {
    case .inherited: return "inherit"
    case .none: return "none"
    case .window(let start, let end, let days):
      let names = days == QuietWindow.everyDay ? [] : [WindowText.days(days).joined(separator: ",")]
      return (["\(WindowText.clock(start))-\(WindowText.clock(end))"] + names)
        .joined(separator: " ")
    }
  }

  static func sync(_ sync: DeviceSync) -> String {
    "\(sync.platform.name) \(sync.osPermission.name) \(sync.timezone?.text ?? "-") "
      + "\(sync.region?.text ?? "-")"
  }

  /// Nil: never seen.
  static func presence(_ device: DevicePreferences) -> String? {
    guard device.sync != nil else { return nil }
    if device.isPresent { return held }
    return device.isHeld ? removed : elsewhere
  }
}

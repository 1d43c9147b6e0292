import Gate

/// The settings of one device as its user sees them: four toggles, and what a tap on each does
/// (requirements S2). The five things that make them up stay five fields (C7).
public struct SettingsView: Equatable, Sendable {
  public enum ToggleState: String, CaseIterable, Sendable {
    case on, off
    /// The system lets nothing through, whatever is chosen here.
    case blockedAtOSLevel = "blocked_at_os_level"
  }

  public enum Tap: Equatable, Sendable {
    /// Leads to the system's settings: `deepLink`.
    case openOSSettings
    /// Sends these choices, one `choice_set` each.
    case set([Change])
    /// Only an administrator may switch it off (requirements C6).
    case needsAdmin
  }

  public struct Change: Equatable, Sendable {
    public var scope: PreferenceScope
    public var state: Choice
  }

  public struct Toggle: Equatable, Sendable {
    public var category: Category
    public var state: ToggleState
    public var tap: Tap
    public var account: Choice
    public var device: Choice
    /// Off because the law wants an opt-in that is not on record, whatever the default says.
    public var lacksConsent: Bool
  }

  public var deviceID: Identifier
  public var platform: Platform
  public var osPermission: OSPermission
  public var tokenStatus: TokenStatus
  public var quietHours: WindowSetting
  public var suppressions: [Suppression]
  /// By category.
  public var toggles: [Toggle]
  /// Opens the system's notification settings of this app.
  public var deepLink: String

  /// One JSON object.
  public var text: String {
    var object = JSONObject()
    object.add("device_id", deviceID.text)
    object.add("platform", "\(platform.name)")
    object.add("os_permission", "\(osPermission.name)")
    object.add("token_status", "\(tokenStatus.name)")
    object.add("quiet_hours", raw: PreferenceDocument.window(quietHours))
    object.add(
      "suppressions", raw: JSONObject.array(suppressions.map { "\"\($0.name)\"" }))
    object.add("deep_link", deepLink)
    object.add("toggles", raw: JSONObject.array(toggles.map(text)))
    return object.text
  }

  private func text(_ toggle: Toggle) -> String {
    var object = JSONObject()
    object.add("category", "\(toggle.category.name)")
    object.add("state", toggle.state.rawValue)
    var choices = JSONObject()
    choices.add("account", "\(toggle.account.name)")
    choices.add("device", "\(toggle.device.name)")
    object.add("choice", raw: choices.text)
    object.add("lacks_consent", raw: toggle.lacksConsent ? "true" : "false")
    object.add("tap", raw: text(toggle.tap))
    return object.text
  }

  private func text(_ tap: Tap) -> String {
    var object = JSONObject()
    switch tap {
    case .openOSSettings:
      object.add("action", "open_os_settings")
      object.add("link", deepLink)
    case .set(let changes):
      object.add("action", "set")
      let choices = changes.map { change in
        var choice = JSONObject()
        choice.add("scope", change.scope == .account ? "account" : "device")
        choice.add("state", "\(change.state.name)")
        return choice.text
      }
      object.add("choices", raw: JSONObject.array(choices))
    case .needsAdmin: object.add("action", "needs_admin")
    }
    return object.text
  }
}

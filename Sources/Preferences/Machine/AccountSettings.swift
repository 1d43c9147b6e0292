import Gate

/// The settings of an account over all its devices, for a page that knows its visitor and not the
/// device (requirements S2): four toggles, each with what a tap on it does.
public struct AccountSettings: Equatable, Sendable {
  public struct Toggle: Equatable, Sendable {
    public var category: Category
    /// On where it is on for any device; blocked where every device's system blocks it.
    public var state: SettingsView.ToggleState
    /// Platforms of the devices on which the system blocks it, each once.
    public var blockedOn: [Platform]
    /// The same of those on which it is off.
    public var offOn: [Platform]
  }

  /// By category.
  public var toggles: [Toggle]
  public var hasDevices: Bool
  /// Opens the system's settings of a platform.
  public var links: SettingsLinks

  public init(toggles: [Toggle], hasDevices: Bool, links: SettingsLinks) {
    self.toggles = toggles
    self.hasDevices = hasDevices
    self.links = links
  }

  public subscript(_ category: Category) -> Toggle { toggles[Int(category.rawValue)] }
}

extension PreferenceMachine {
  /// - Parameter nowMs: an opt-in dated after it does not count yet.
  public func accountSettings(
    _ user: UserPreferences, defaults: DefaultsState, links: SettingsLinks, nowMs: Int64
  ) -> AccountSettings {
    let views = user.devices.keys.sorted().compactMap {
      settings(user, device: $0, defaults: defaults, links: links, nowMs: nowMs)
    }
    let toggles = Category.allCases.map { category -> AccountSettings.Toggle in
      func platforms(_ state: SettingsView.ToggleState) -> [Platform] {
        Platform.allCases.filter { platform in
          views.contains {
            $0.platform == platform && $0.toggles[Int(category.rawValue)].state == state
          }
        }
      }
      let (on, off, blocked) = (
        platforms(.on), platforms(.off), platforms(.blockedAtOSLevel)
      )
      let state: SettingsView.ToggleState
      if views.isEmpty {
        state = isOnWithoutDevice(category, user, defaults, nowMs) ? .on : .off
      } else if !on.isEmpty {
        state = .on
      } else {
        state = off.isEmpty ? .blockedAtOSLevel : .off
      }
      return AccountSettings.Toggle(
        category: category, state: state, blockedOn: blocked, offOn: off)
    }
    return AccountSettings(toggles: toggles, hasDevices: !views.isEmpty, links: links)
  }

  /// By the account alone, where the law is strictest: nobody knows which device will come.
  private func isOnWithoutDevice(
    _ category: Category, _ user: UserPreferences, _ defaults: DefaultsState, _ nowMs: Int64
  ) -> Bool {
    let choice = user.account.choices[category]?.inForce
    let isOn = policy.isOn(
      category, account: choice?.value ?? .unset, device: .unset, region: nil,
      setDefaults: defaults.entries.compactMapValues { entry in
        entry.value.map { ($0.isOn, $0.isOnWhereRegulated) }
      })
    return isOn
      && (!policy.needsConsent(category, region: nil) || choice?.isConsent(at: nowMs) == true)
  }
}

import Gate

extension PreferenceMachine {
  /// The settings of one of the user's devices; nil where the user has no such device.
  /// - Parameter nowMs: an opt-in dated after it does not count yet.
  public func settings(
    _ user: UserPreferences, device id: Identifier, defaults: DefaultsState, links: SettingsLinks,
    nowMs: Int64
  ) -> SettingsView? {
    guard let device = user.devices[id], device.isPresent, let sync = device.sync?.value else {
      return nil
    }
    let account = user.account
    let window: WindowSetting =
      switch device.quietHours?.value {
      case nil, .inherited: account.quietHours?.value ?? .none
      case .some(let own): own
      }
    let suppressions = Suppression.allCases.filter {
      account.suppressions[$0]?.value == true || device.suppressions[$0]?.value == true
    }
    return SettingsView(
      deviceID: id, platform: sync.platform, osPermission: sync.osPermission,
      tokenStatus: device.tokenStatus, quietHours: window, suppressions: suppressions,
      toggles: Category.allCases.map {
        toggle($0, account, device, id, sync, defaults, nowMs)
      },
      deepLink: links[sync.platform])
  }

  private func toggle(
    _ category: Category, _ account: AccountPreferences, _ device: DevicePreferences,
    _ id: Identifier, _ sync: DeviceSync, _ defaults: DefaultsState, _ nowMs: Int64
  ) -> SettingsView.Toggle {
    let ofAccount = account.choices[category]?.inForce
    let ofDevice = device.choices[category]?.inForce
    let states = (account: ofAccount?.value ?? .unset, device: ofDevice?.value ?? .unset)
    let isOn = isOn(category, states.account, states.device, sync, defaults)
    let hasConsent = [ofAccount, ofDevice].contains { $0?.isConsent(at: nowMs) == true }
    let lacksConsent =
      isOn && !hasConsent && policy.needsConsent(category, region: sync.region?.text)

    var toggle = SettingsView.Toggle(
      category: category, state: .on, tap: .needsAdmin, account: states.account,
      device: states.device, lacksConsent: lacksConsent)
    if sync.osPermission == .denied {
      toggle.state = .blockedAtOSLevel
      toggle.tap = .openOSSettings
    } else if isOn, !lacksConsent {
      if category != .security { toggle.tap = .set([.init(scope: .device(id), state: .userOff)]) }
    } else {
      toggle.state = .off
      toggle.tap = .set(changesToTurnOn(states.account, states.device, id))
    }
    return toggle
  }

  private func isOn(
    _ category: Category, _ account: Choice, _ device: Choice, _ sync: DeviceSync,
    _ defaults: DefaultsState
  ) -> Bool {
    policy.isOn(
      category, account: account, device: device, region: sync.region?.text,
      setDefaults: defaults.entries.compactMapValues { entry in
        entry.value.map { ($0.isOn, $0.isOnWhereRegulated) }
      })
  }

  /// Any `user-off` is stricter than a `user-on` elsewhere, so each that stands in the way goes.
  private func changesToTurnOn(
    _ account: Choice, _ device: Choice, _ id: Identifier
  ) -> [SettingsView.Change] {
    var changes: [SettingsView.Change] = []
    if account == .userOff { changes.append(.init(scope: .account, state: .userOn)) }
    if account != .userOff || device == .userOff {
      changes.append(.init(scope: .device(id), state: .userOn))
    }
    return changes
  }
}

extension Stamped<Choice> {
  /// Whether it counts as an opt-in (decision.md, Opt-in): dated, sourced, and not after that instant.
  func isConsent(at nowMs: Int64) -> Bool { value == .userOn && source != nil && atMs <= nowMs }
}

import Gate

/// Everything kept of a user as one JSON text: what the store saves and an export shows. Reading it
/// back gives an equal value.
extension UserPreferences {
  public var storedText: String {
    var object = JSONObject()
    object.add("user_id", userID.text)
    object.add("version", raw: "\(version)")
    var account = JSONObject()
    StoredText.add(self.account.choices, to: &account)
    let mutes = self.account.mutes.sorted {
      ($0.key.category.rawValue, $0.key.name) < ($1.key.category.rawValue, $1.key.name)
    }
    if !mutes.isEmpty {
      account.add(
        "mutes",
        raw: JSONObject.array(
          mutes.map { subtype, mute in
            StoredText.stamped(mute) { object in
              object.add("category", "\(subtype.category.name)")
              object.add("subtype", subtype.name.text)
              object.add("muted", raw: "\(mute.value)")
            }
          }))
    }
    StoredText.add(self.account.quietHours, to: &account)
    if let timezone = self.account.timezone {
      account.add(
        "timezone", raw: StoredText.stamped(timezone) { $0.add("zone", timezone.value.zone?.text) })
    }
    StoredText.add(self.account.suppressions, to: &account)
    if let sms = self.account.sms { account.add("sms", raw: StoredText.choice(sms)) }
    object.add("account", raw: account.text)
    object.add(
      "devices",
      raw: JSONObject.array(
        devices.sorted { $0.key < $1.key }.map { StoredText.device($0.key, $0.value) }))
    return object.text
  }
}

enum StoredText {
  static func stamped<Value>(
    _ stamped: Stamped<Value>, _ members: (inout JSONObject) -> Void
  ) -> String {
    var object = JSONObject()
    members(&object)
    object.add("at", instant: stamped.atMs)
    object.addIfPresent("source", stamped.source.map { "\($0.name)" })
    return object.text
  }

  static func choice(_ choice: Stamped<Choice>) -> String {
    stamped(choice) { $0.add("state", "\(choice.value.name)") }
  }

  static func add(_ choices: [Category: CategoryChoice], to object: inout JSONObject) {
    var categories = JSONObject()
    for category in Category.allCases {
      guard let choice = choices[category] else { continue }
      var both = JSONObject()
      if let made = choice.made { both.add("made", raw: self.choice(made)) }
      if let link = choice.link {
        both.add("link", raw: stamped(link) { $0.add("muted", raw: "\(link.value)") })
      }
      categories.add("\(category.name)", raw: both.text)
    }
    if !categories.isEmpty { object.add("choices", raw: categories.text) }
  }

  static func add(_ quietHours: Stamped<WindowSetting>?, to object: inout JSONObject) {
    guard let quietHours else { return }
    object.add(
      "quiet_hours",
      raw: stamped(quietHours) {
        let isInherited = quietHours.value == .inherited
        $0.add(
          "window", raw: isInherited ? "\"inherit\"" : PreferenceDocument.window(quietHours.value))
      })
  }

  static func add(_ suppressions: [Suppression: Stamped<Bool>], to object: inout JSONObject) {
    var all = JSONObject()
    for suppression in Suppression.allCases {
      guard let held = suppressions[suppression] else { continue }
      all.add("\(suppression.name)", raw: stamped(held) { $0.add("set", raw: "\(held.value)") })
    }
    if !all.isEmpty { object.add("suppressions", raw: all.text) }
  }

  static func device(_ id: Identifier, _ device: DevicePreferences) -> String {
    var object = JSONObject()
    object.add("device_id", id.text)
    object.add("held", raw: "\(device.isHeld)")
    object.addIfPresent("first_seen", instant: device.firstSeenMs)
    object.addIfPresent("last_seen", instant: device.lastSeenMs)
    object.addIfPresent("removed", instant: device.removedMs)
    if let sync = device.sync {
      object.add(
        "sync",
        raw: stamped(sync) {
          $0.add("platform", "\(sync.value.platform.name)")
          $0.add("os_permission", "\(sync.value.osPermission.name)")
          $0.addIfPresent("timezone", sync.value.timezone?.text)
          $0.addIfPresent("region", sync.value.region?.text)
        })
    }
    if let token = device.token {
      object.add("token", raw: stamped(token) { $0.add("status", "\(token.value.name)") })
    }
    add(device.choices, to: &object)
    add(device.quietHours, to: &object)
    add(device.suppressions, to: &object)
    return object.text
  }
}

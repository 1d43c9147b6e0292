import Gate

/// The document on `preferences.state`: what the gate reads of a user, and nothing else.
public enum PreferenceDocument {
  /// What the gate takes; of more, those seen last.
  public static let devicesMax = 64

  /// One JSON object.
  public static func text(_ user: UserPreferences) -> String { write(user, version: user.version) }

  /// The same without the version: whether two states say the same to the gate.
  static func facts(_ user: UserPreferences) -> String { write(user, version: nil) }

  private static func write(_ user: UserPreferences, version: Int64?) -> String {
    var document = JSONObject()
    document.add("user_id", user.userID.text)
    if let version { document.add("version", raw: "\(version)") }
    document.add("account", raw: account(user.account))
    let devices = presentDevices(user).map { device($0, user.devices[$0]!) }
    document.add("devices", raw: JSONObject.array(devices))
    return document.text
  }

  /// In the order of the document: that of the bytes of their ids.
  public static func presentDevices(_ user: UserPreferences) -> [Identifier] {
    let present = user.devices.filter(\.value.isPresent)
    guard present.count > devicesMax else { return present.keys.sorted() }
    return present.sorted { ($1.value.lastSeenMs!, $0.key) < ($0.value.lastSeenMs!, $1.key) }
      .prefix(devicesMax).map(\.key).sorted()
  }

  private static func account(_ account: AccountPreferences) -> String {
    var object = JSONObject()
    let choices = categories(account.choices)
    if !choices.isEmpty { object.add("categories", raw: choices.text) }
    let mutes = mutedSubtypes(account.mutes)
    if !mutes.isEmpty { object.add("muted_subtypes", raw: mutes.text) }
    if case .window = account.quietHours?.value {
      object.add("quiet_hours", raw: window(account.quietHours!.value))
    }
    object.addIfPresent("timezone", account.timezone?.value.zone?.text)
    addSuppressions(account.activeSuppressions, to: &object)
    if let sms = account.sms { object.add("sms", raw: choice(sms)) }
    return object.text
  }

  private static func device(_ id: Identifier, _ device: DevicePreferences) -> String {
    let sync = device.sync!.value
    var object = JSONObject()
    object.add("device_id", id.text)
    object.add("platform", "\(sync.platform.name)")
    object.add("os_permission", "\(sync.osPermission.name)")
    object.add("token_status", "\(device.tokenStatus.name)")
    object.addIfPresent("timezone", sync.timezone?.text)
    object.addIfPresent("region", sync.region?.text)
    let choices = categories(device.choices)
    if !choices.isEmpty { object.add("categories", raw: choices.text) }
    switch device.quietHours?.value {
    case nil, .inherited: break
    case .some(let set): object.add("quiet_hours", raw: window(set))
    }
    addSuppressions(device.activeSuppressions, to: &object)
    return object.text
  }

  private static func categories(_ choices: [Category: CategoryChoice]) -> JSONObject {
    var object = JSONObject()
    for category in Category.allCases {
      guard let inForce = choices[category]?.inForce else { continue }
      object.add("\(category.name)", raw: choice(inForce))
    }
    return object
  }

  private static func choice(_ choice: Stamped<Choice>) -> String {
    var object = JSONObject()
    object.add("state", "\(choice.value.name)")
    object.add("at", instant: choice.atMs)
    object.addIfPresent("source", choice.source.map { "\($0.name)" })
    return object.text
  }

  private static func mutedSubtypes(_ mutes: [Subtype: Stamped<Bool>]) -> JSONObject {
    var object = JSONObject()
    for category in Category.allCases {
      let names = mutes.filter { $0.key.category == category && $0.value.value }
        .map(\.key.name).sorted()
      guard !names.isEmpty else { continue }
      object.add(
        "\(category.name)", raw: JSONObject.array(names.map { JSONObject.quoted($0.text) }))
    }
    return object
  }

  private static func addSuppressions(_ active: [Suppression], to object: inout JSONObject) {
    guard !active.isEmpty else { return }
    object.add("suppressions", raw: JSONObject.array(active.map { "\"\($0.name)\"" }))
  }

  /// As documents write it; null for none.
  static func window(_ setting: WindowSetting) -> String {
    guard case .window(let start, let end, let days) = setting else { return "null" }
    var object = JSONObject()
    object.add("start", WindowText.clock(start))
    object.add("end", WindowText.clock(end))
    if days != QuietWindow.everyDay {
      object.add("days", raw: JSONObject.array(WindowText.days(days).map { "\"\($0)\"" }))
    }
    return object.text
  }
}

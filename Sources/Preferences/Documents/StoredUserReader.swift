import Gate

extension UserPreferences {
  /// Reads `storedText` back. Throws where it is none: the store is damaged, or of another version.
  public init(storedText text: String) throws(EventFault) {
    let tree = Array(text.utf8).withUnsafeBytes { bytes in
      Result { () throws(EventFault) in try EventDecoder.tree(bytes) }
    }
    let root = EventNode(path: "", value: try tree.get())
    let version = try root.stored("version")
    guard case .number(let digits) = version.value, let number = Int64(digits), number >= 0 else {
      throw version.fault(.wrongType, "is no version")
    }
    self.init(userID: try root.stored("user_id").id(), version: number)
    let stored = try root.stored("account")
    account.choices = try stored.storedChoices()
    for node in try stored.optional("mutes")?.elements() ?? [] {
      let subtype = Subtype(
        try node.stored("category").category(), try node.stored("subtype").name())
      account.mutes[subtype] = try node.stamped(try node.stored("muted").bool())
    }
    account.quietHours = try stored.storedWindow()
    if let node = stored.optional("timezone") {
      account.timezone = try node.stamped(ZoneSetting(try node.optional("zone").storedName()))
    }
    account.suppressions = try stored.storedSuppressions()
    if let node = stored.optional("sms") {
      account.sms = try node.stamped(try node.stored("state").choice())
    }
    for node in try root.stored("devices").elements() {
      devices[try node.stored("device_id").id()] = try node.storedDevice()
    }
  }
}

extension EventNode {
  fileprivate func stored(_ name: String) throws(EventFault) -> EventNode {
    try required(name, "the stored text is not whole")
  }

  fileprivate func elements() throws(EventFault) -> [EventNode] {
    guard case .array(let elements) = value else { throw fault(.wrongType, "is no list") }
    return elements.enumerated().map {
      EventNode(path: "\(path)[\($0.offset)]", value: $0.element)
    }
  }

  fileprivate func stamped<Value>(_ value: Value) throws(EventFault) -> Stamped<Value> {
    Stamped(
      value, atMs: try stored("at").instant(),
      source: try optional("source").map { (node) throws(EventFault) in try node.source() })
  }

  fileprivate func storedChoices() throws(EventFault) -> [Category: CategoryChoice] {
    var choices: [Category: CategoryChoice] = [:]
    guard let node = optional("choices") else { return choices }
    for category in Category.allCases {
      guard let both = node.optional("\(category.name)") else { continue }
      var choice = CategoryChoice()
      if let made = both.optional("made") {
        choice.made = try made.stamped(try made.stored("state").choice())
      }
      if let link = both.optional("link") {
        choice.link = try link.stamped(try link.stored("muted").bool())
      }
      choices[category] = choice
    }
    return choices
  }

  fileprivate func storedWindow() throws(EventFault) -> Stamped<WindowSetting>? {
    guard let node = optional("quiet_hours") else { return nil }
    guard let window = node.written("window") else {
      throw node.fault(.missing, "the stored text is not whole")
    }
    return try node.stamped(try window.window(allowsInherit: true))
  }

  fileprivate func storedSuppressions() throws(EventFault) -> [Suppression: Stamped<Bool>] {
    var suppressions: [Suppression: Stamped<Bool>] = [:]
    guard let node = optional("suppressions") else { return suppressions }
    for suppression in Suppression.allCases {
      guard let held = node.optional("\(suppression.name)") else { continue }
      suppressions[suppression] = try held.stamped(try held.stored("set").bool())
    }
    return suppressions
  }

  fileprivate func storedDevice() throws(EventFault) -> DevicePreferences {
    var device = DevicePreferences()
    device.isHeld = try stored("held").bool()
    device.firstSeenMs = try optional("first_seen").storedInstant()
    device.lastSeenMs = try optional("last_seen").storedInstant()
    device.removedMs = try optional("removed").storedInstant()
    if let node = optional("sync") {
      device.sync = try node.stamped(
        DeviceSync(
          platform: try node.stored("platform").platform(),
          osPermission: try node.stored("os_permission").osPermission(),
          timezone: try node.optional("timezone").storedName(),
          region: try node.optional("region").storedName()))
    }
    if let node = optional("token") {
      device.token = try node.stamped(try node.stored("status").tokenStatus())
    }
    device.choices = try storedChoices()
    device.quietHours = try storedWindow()
    device.suppressions = try storedSuppressions()
    return device
  }
}

extension EventNode? {
  fileprivate func storedName() throws(EventFault) -> Identifier? {
    guard let self else { return nil }
    return try self.name()
  }

  fileprivate func storedInstant() throws(EventFault) -> Int64? {
    guard let self else { return nil }
    return try self.instant()
  }
}

import Gate

/// The members of each type of event.
enum EventBodyReader {
  static func body(
    _ type: EventType, _ root: EventNode, source: ChoiceSource?
  ) throws(EventFault) -> EventBody {
    switch type {
    case .choiceSet:
      return .choiceSet(try scope(root), try category(root), try state(root))
    case .unsubscribeUndone:
      guard source == .unsubscribeLink else {
        throw EventFault(.unknownValue, "source", "write unsubscribe_link; it undoes nothing else")
      }
      return .linkUndone(try category(root))
    case .subtypeMuteSet:
      let subtype = try root.required("subtype", "write the subtype").name()
      return .subtypeMuteSet(
        Subtype(try category(root), subtype),
        isMuted: try root.required("muted", "write true or false").bool())
    case .quietHoursSet: return try quietHours(root)
    case .timezoneSet:
      guard let zone = root.written("timezone") else {
        throw EventFault(.missing, "timezone", "is missing; write a zone id, or null for none")
      }
      return .timezoneSet(ZoneSetting(try zoneID(zone)))
    case .smsConsentSet: return .smsConsentSet(try state(root))
    case .deviceSeen: return try deviceSeen(root)
    case .deviceRemoved: return .deviceRemoved(try device(root))
    case .suppressionSet: return .suppressionSet(try scope(root), try suppression(root))
    case .suppressionCleared: return .suppressionCleared(try scope(root), try suppression(root))
    case .permissionPromptShown:
      let moment = try root.required("moment", "write the moment of value").name()
      return .permissionPromptShown(try device(root), moment: moment)
    case .tokenFeedback:
      let provider = try root.required("provider", "write apns or fcm")
        .oneOf(PushProvider.allCases, \.rawValue)
      let code = try root.required("code", "write the provider's own code").name()
      return .tokenFeedback(try device(root), provider, code: code.text)
    case .userErased: return .userErased
    case .userObserved:
      let notification = try root.required("notification_id", "write which one was seen").id()
      let via = try root.required("via", "write tap or badge_clear")
        .oneOf(ObservedVia.allCases, \.rawValue)
      return .userObserved(notificationID: notification, try device(root), via)
    case .defaultSet: preconditionFailure("read before, since it has no user")
    }
  }

  /// `account`, where there must be no device, or `device`, where there must be one.
  private static func scope(_ root: EventNode) throws(EventFault) -> PreferenceScope {
    let isDevice = try root.required("scope", "write account or device")
      .oneOf([false, true]) { $0 ? "device" : "account" }
    if isDevice { return .device(try device(root)) }
    if let device = root.optional("device_id") {
      throw device.fault(.contradictory, "leave it out, or write the scope device")
    }
    return .account
  }

  private static func device(_ root: EventNode) throws(EventFault) -> Identifier {
    try root.required("device_id", "write the device's id").id()
  }

  private static func category(_ root: EventNode) throws(EventFault) -> Category {
    try root.required("category", "write the category").category()
  }

  private static func state(_ root: EventNode) throws(EventFault) -> Choice {
    try root.required("state", "write default, user-on or user-off").choice()
  }

  private static func suppression(_ root: EventNode) throws(EventFault) -> Suppression {
    try root.required("suppression", "write which one").suppression()
  }

  /// Null and a missing member say different things here, so the member must be written.
  private static func quietHours(_ root: EventNode) throws(EventFault) -> EventBody {
    let scope = try scope(root)
    guard let window = root.written("quiet_hours") else {
      throw EventFault(.missing, "quiet_hours", "is missing; write a window, or null for none")
    }
    return .quietHoursSet(scope, try window.window(allowsInherit: scope != .account))
  }

  private static func deviceSeen(_ root: EventNode) throws(EventFault) -> EventBody {
    let sync = DeviceSync(
      platform: try root.required("platform", "write ios or android").platform(),
      osPermission: try root.required("os_permission", "write what the system says")
        .osPermission(),
      timezone: try root.optional("timezone").flatMap { (node) throws(EventFault) in
        try zoneID(node)
      },
      region: try root.optional("region").map { (node) throws(EventFault) in
        Identifier(try region(node))
      })
    let token = try root.optional("token_status").map { (node) throws(EventFault) in
      try node.tokenStatus()
    }
    return .deviceSeen(try device(root), sync, token)
  }

  /// Well formed; whether the tz database has it is the machine's to ask.
  private static func zoneID(_ node: EventNode) throws(EventFault) -> Identifier? {
    if case .null = node.value { return nil }
    return try node.name()
  }

  /// Two capital letters. A code that is not assigned is taken, and counts as regulated.
  private static func region(_ node: EventNode) throws(EventFault) -> String {
    let instead = "write an ISO 3166-1 alpha-2 code in upper case, or leave it out"
    let text = try node.string(instead)
    guard text.utf8.count == 2, text.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
      throw node.fault(.unknownValue, instead)
    }
    return text
  }
}

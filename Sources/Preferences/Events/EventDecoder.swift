import Gate

/// Reads events: JSON by the gate's own rules, every member checked, nothing guessed. Unknown members
/// are passed over, as in every record.
public enum EventDecoder {
  /// Of one event.
  public static let bytesMax = 65_536

  public static func decode(_ text: UnsafeRawBufferPointer) throws(EventFault) -> DecodedEvent {
    guard text.count <= bytesMax else {
      throw EventFault(.tooLarge, "", "is larger than \(bytesMax) bytes")
    }
    return try decode(try tree(text))
  }

  /// The same of a text that was read already, or was put together.
  package static func decode(_ value: JSONValue) throws(EventFault) -> DecodedEvent {
    let root = EventNode(path: "", value: value)
    guard case .object = root.value else {
      throw EventFault(.malformedJSON, "", "is not one JSON object")
    }
    do throws(EventFault) {
      return try event(root)
    } catch {
      var fault = error
      fault.userID = try? root.optional("user_id")?.id()
      fault.eventID = try? root.optional("event_id")?.id()
      throw fault
    }
  }

  public static func decode(_ text: String) throws(EventFault) -> DecodedEvent {
    let decoded = Array(text.utf8).withUnsafeBytes { bytes in
      Result { () throws(EventFault) in try decode(bytes) }
    }
    return try decoded.get()
  }

  static func tree(_ text: UnsafeRawBufferPointer) throws(EventFault) -> JSONValue {
    do throws(JSONFault) {
      return try JSONValue(text)
    } catch {
      throw EventFault(.malformedJSON, "", "\(error.words)")
    }
  }

  private static func event(_ root: EventNode) throws(EventFault) -> DecodedEvent {
    let eventID = try root.required("event_id", "write an id that no other event has").id()
    let typeNode = try root.required("type", "write what happened")
    let name = try typeNode.string("write what happened")
    guard let type = EventType(rawValue: name) else {
      throw typeNode.fault(
        .unknownType,
        "write one of \(EventType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    let atMs = try root.required("at", "write when it happened").instant()
    if type == .defaultSet {
      return .defaults(
        DefaultEvent(
          eventID: eventID, atMs: atMs,
          category: try root.required("category", "write the category").category(),
          value: try defaultValue(root)))
    }
    let userID = try root.required("user_id", "write whose preferences it is about").id()
    let source = try root.optional("source").map { (node) throws(EventFault) in
      try node.source()
    }
    if type.isChoice, source == nil {
      throw EventFault(.missing, "source", "is missing; write how the choice was made")
    }
    return .user(
      PreferenceEvent(
        eventID: eventID, userID: userID, atMs: atMs, source: source,
        body: try EventBodyReader.body(type, root, source: source)))
  }

  /// Both members, or neither: the policy's.
  private static func defaultValue(_ root: EventNode) throws(EventFault) -> CategoryDefault? {
    let node = root.optional("default")
    let regulated = root.optional("regulated_default")
    if node == nil, regulated == nil { return nil }
    let instead = "write on or off, or leave out both for the policy's"
    return CategoryDefault(
      isOn: try root.required("default", instead).onOff(),
      isOnWhereRegulated: try root.required("regulated_default", instead).onOff())
  }
}

/// The types of event, by name.
enum EventType: String, CaseIterable {
  case choiceSet = "choice_set"
  case unsubscribeUndone = "unsubscribe_undone"
  case subtypeMuteSet = "subtype_mute_set"
  case quietHoursSet = "quiet_hours_set"
  case timezoneSet = "timezone_set"
  case smsConsentSet = "sms_consent_set"
  case deviceSeen = "device_seen"
  case deviceRemoved = "device_removed"
  case suppressionSet = "suppression_set"
  case suppressionCleared = "suppression_cleared"
  case permissionPromptShown = "permission_prompt_shown"
  case tokenFeedback = "token_feedback"
  case userErased = "user_erased"
  case userObserved = "user_observed"
  case defaultSet = "default_set"

  /// Whether somebody chose something, so that it must be known how.
  var isChoice: Bool {
    switch self {
    case .choiceSet, .unsubscribeUndone, .subtypeMuteSet, .quietHoursSet, .timezoneSet,
      .smsConsentSet:
      true
    default: false
    }
  }
}

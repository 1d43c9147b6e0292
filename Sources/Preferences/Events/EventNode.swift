import Gate

/// A value of an event with the path that leads to it, so that every fault names its member.
struct EventNode {
  let path: String
  let value: JSONValue

  func fault(_ code: EventFault.Code, _ words: String) -> EventFault {
    EventFault(code, path, words)
  }

  /// The member of that name; nil where it is missing or null.
  func optional(_ name: String) -> EventNode? {
    guard let found = written(name) else { return nil }
    if case .null = found.value { return nil }
    return found
  }

  /// The member of that name, null or not; nil where it is missing.
  func written(_ name: String) -> EventNode? {
    guard case .object(let members) = value,
      let member = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
    else { return nil }
    return EventNode(path: path.isEmpty ? name : "\(path).\(name)", value: member.value)
  }

  func required(_ name: String, _ instead: String) throws(EventFault) -> EventNode {
    if let found = optional(name) { return found }
    throw EventFault(.missing, path.isEmpty ? name : "\(path).\(name)", "is missing; \(instead)")
  }

  func string(_ instead: String) throws(EventFault) -> String {
    guard case .string(let text) = value else { throw fault(.wrongType, instead) }
    return text
  }

  func bool() throws(EventFault) -> Bool {
    guard case .bool(let value) = value else { throw fault(.wrongType, "write true or false") }
    return value
  }

  func id() throws(EventFault) -> Identifier {
    let instead = "write an id of 1 to 128 bytes without control characters"
    let text = try string(instead)
    guard RecordText.isID(text) else { throw fault(.malformedID, instead) }
    return Identifier(text)
  }

  func name() throws(EventFault) -> Identifier {
    let instead = "write a name of 1 to 64 bytes without control characters"
    let text = try string(instead)
    guard RecordText.isName(text) else { throw fault(.malformedID, instead) }
    return Identifier(text)
  }

  func instant() throws(EventFault) -> Int64 {
    let instead =
      "write an instant of the years 2000 to 2200, as 2026-03-09T22:30:00Z or as integer "
      + "milliseconds"
    let ms: Int64? =
      switch value {
      case .string(let text): Instant.parse(text: text)
      case .number(let digits):
        Int64(digits).flatMap { Instant.readable.contains($0) ? $0 : nil }
      default: nil
      }
    guard let ms else { throw fault(.malformedInstant, instead) }
    return ms
  }

  /// One of a closed set, by name, exactly.
  func oneOf<T>(_ values: [T], _ name: (T) -> String) throws(EventFault) -> T {
    let instead = "write one of \(values.map(name).joined(separator: ", "))"
    let text = try string(instead)
    guard let found = values.first(where: { name($0).utf8.elementsEqual(text.utf8) }) else {
      throw fault(.unknownValue, instead)
    }
    return found
  }
}

/// The closed sets, by the names that records write.
extension EventNode {
  func category() throws(EventFault) -> Category {
    try oneOf(Category.allCases) { "\($0.name)" }
  }

  func choice() throws(EventFault) -> Choice { try oneOf(Choice.allCases) { "\($0.name)" } }

  func source() throws(EventFault) -> ChoiceSource {
    try oneOf(ChoiceSource.allCases) { "\($0.name)" }
  }

  func suppression() throws(EventFault) -> Suppression {
    try oneOf(Suppression.allCases) { "\($0.name)" }
  }

  func platform() throws(EventFault) -> Platform { try oneOf(Platform.allCases) { "\($0.name)" } }

  func osPermission() throws(EventFault) -> OSPermission {
    try oneOf(OSPermission.allCases) { "\($0.name)" }
  }

  func tokenStatus() throws(EventFault) -> TokenStatus {
    try oneOf(TokenStatus.allCases) { "\($0.name)" }
  }

  func onOff() throws(EventFault) -> Bool { try oneOf([true, false]) { $0 ? "on" : "off" } }

  /// A window, `null` for none; with `inherit` also that.
  func window(allowsInherit: Bool) throws(EventFault) -> WindowSetting {
    switch value {
    case .null: return .none
    case .string("inherit") where allowsInherit: return .inherited
    case .object: break
    default:
      throw fault(
        .wrongType,
        "write {\"start\":\"22:00\",\"end\":\"08:00\"} or null"
          + (allowsInherit ? ", or \"inherit\" for the account's" : ""))
    }
    let start = try minute("start", "00:00 to 23:59", QuietWindow.startMinute)
    let end = try minute("end", "00:00 to 24:00", QuietWindow.endMinute)
    return .window(startMinute: start, endMinute: end, days: try days())
  }

  private func minute(
    _ name: String, _ range: String, _ read: (UnsafeRawBufferPointer) -> UInt16?
  ) throws(EventFault) -> UInt16 {
    let instead = "write a wall-clock time HH:MM, \(range)"
    let node = try required(name, instead)
    var text = try node.string(instead)
    guard let minute = text.withUTF8({ read(UnsafeRawBufferPointer($0)) }) else {
      throw node.fault(.malformedWindow, instead)
    }
    return minute
  }

  private func days() throws(EventFault) -> UInt8 {
    guard let node = optional("days") else { return QuietWindow.everyDay }
    let instead = "write a list of mon, tue, wed, thu, fri, sat, sun"
    guard case .array(let elements) = node.value else { throw node.fault(.wrongType, instead) }
    var days: UInt8 = 0
    for element in elements {
      guard case .string(var text) = element,
        let day = text.withUTF8({ QuietWindow.weekday(UnsafeRawBufferPointer($0)) })
      else { throw node.fault(.malformedWindow, instead) }
      days |= 1 << day
    }
    return days
  }
}

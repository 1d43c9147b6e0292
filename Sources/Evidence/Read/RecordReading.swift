import Gate

/// The members of a kept record, read leniently: what is missing or of another type is nil, since a
/// record may be of a release that is older or newer.
struct RecordReading {
  private var members: [String: JSONValue] = [:]
  /// The candidate's, where the record carries one.
  private(set) var event: String?

  /// Nil where the bytes are not one JSON object.
  init?(_ record: [UInt8]) {
    let found: [String: JSONValue]? = record.withUnsafeBytes { bytes in
      guard let written = ObjectMembers.read(bytes) else { return nil }
      var found: [String: JSONValue] = [:]
      for (name, value) in written {
        if name == "notification" {
          // Its payload is opaque, and need not be what a tree can be made of.
          event =
            ObjectMembers.read(value)?.first { $0.name == "event" }
            .flatMap { try? JSONValue($0.value) }?.string
        } else if name != "notification_base64" {
          found[name] = try? JSONValue(value)
        }
      }
      return found
    }
    guard let found else { return nil }
    members = found
  }

  private init(_ members: [(name: String, value: JSONValue)]) {
    for (name, value) in members { self.members[name] = value }
  }

  func string(_ name: String) -> String? { members[name]?.string }
  func integer(_ name: String) -> Int64? { members[name]?.integer }
  func flag(_ name: String) -> Bool? { members[name]?.flag }
  func instant(_ name: String) -> Int64? { members[name]?.instant }

  func strings(_ name: String) -> [String] {
    guard case .array(let elements)? = members[name] else { return [] }
    return elements.compactMap(\.string)
  }

  func object(_ name: String) -> RecordReading? {
    guard case .object(let members)? = members[name] else { return nil }
    return RecordReading(members)
  }
}

extension JSONValue {
  fileprivate var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  fileprivate var integer: Int64? {
    guard case .number(let digits) = self else { return nil }
    return Int64(digits)
  }

  fileprivate var flag: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// Text, or milliseconds of a year that can be written.
  fileprivate var instant: Int64? {
    string.flatMap { Instant.parse(text: $0) }
      ?? integer.flatMap { (0..<253_402_300_800_000).contains($0) ? $0 : nil }
  }
}

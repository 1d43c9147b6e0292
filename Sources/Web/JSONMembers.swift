import Gate

/// One JSON object, written member by member.
struct JSONMembers {
  private var text: [UInt8] = [UInt8(ascii: "{")]

  /// The whole object.
  var bytes: [UInt8] { text + [UInt8(ascii: "}")] }

  mutating func add(_ name: String, _ value: String?) {
    key(name)
    if let value { Self.append(value, to: &text) } else { text += "null".utf8 }
  }

  mutating func add(_ name: String, _ value: Int) {
    key(name)
    text += "\(value)".utf8
  }

  mutating func add(_ name: String, number value: Int64?) {
    key(name)
    text += (value.map { "\($0)" } ?? "null").utf8
  }

  mutating func add(_ name: String, _ value: Bool) {
    key(name)
    text += (value ? "true" : "false").utf8
  }

  mutating func add(_ name: String, optional value: Bool?) {
    key(name)
    text += (value.map { $0 ? "true" : "false" } ?? "null").utf8
  }

  /// A value that is JSON already.
  mutating func add(_ name: String, json value: [UInt8]) {
    key(name)
    text += value
  }

  mutating func add(_ name: String, instant ms: Int64?) { add(name, ms.map(Instant.text)) }

  static func array(_ elements: [[UInt8]]) -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "[")]
    for element in elements {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += element
    }
    text.append(UInt8(ascii: "]"))
    return text
  }

  static func array(_ texts: [String]) -> [UInt8] {
    array(
      texts.map { text -> [UInt8] in
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return bytes
      })
  }

  private mutating func key(_ name: String) {
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    Self.append(name, to: &text)
    text.append(UInt8(ascii: ":"))
  }

  static func append(_ value: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case 0x22, 0x5C: text += [0x5C, byte]
      case 0..<0x20, 0x7F: text += "\\u00\(Hex.text([byte]))".utf8
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}

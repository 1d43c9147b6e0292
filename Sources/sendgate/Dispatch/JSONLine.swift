/// One JSON object on one line, member by member.
struct JSONLine {
  private(set) var text = "{"
  private var isFirst = true

  /// The line of the members that `body` adds.
  static func make(_ body: (inout JSONLine) -> Void) -> String {
    var line = JSONLine()
    body(&line)
    return line.text + "}"
  }

  /// Nil is left out.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  /// An object in it.
  mutating func add(_ name: String, _ body: (inout JSONLine) -> Void) {
    key(name)
    text += Self.make(body)
  }

  /// An array of strings.
  mutating func add(_ name: String, list: [String]) {
    key(name)
    text += "["
    for (index, value) in list.enumerated() {
      if index > 0 { text += "," }
      string(value)
    }
    text += "]"
  }

  /// An array of objects.
  mutating func add<Value>(
    _ name: String, each values: [Value], _ body: (inout JSONLine, Value) -> Void
  ) {
    key(name)
    text +=
      "[" + values.map { value in Self.make { body(&$0, value) } }.joined(separator: ",") + "]"
  }

  mutating func addNull(_ name: String) {
    key(name)
    text += "null"
  }

  mutating func add(_ name: String, flag: Bool) {
    key(name)
    text += flag ? "true" : "false"
  }

  mutating func add(_ name: String, number: Int) {
    key(name)
    text += "\(number)"
  }

  mutating func add(_ name: String, flag: Bool) { add(name, raw: flag ? "true" : "false") }

  /// A value that is JSON already.
  mutating func add(_ name: String, raw: String) {
    key(name)
    text += raw
  }

  private mutating func key(_ name: String) {
    if !isFirst { text += "," }
    isFirst = false
    string(name)
    text += ":"
  }

  private mutating func string(_ value: String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C:
        text += "\\"
        text.unicodeScalars.append(scalar)
      // DEL and the C1 controls too: a terminal that shows the line would obey them.
      case 0..<0x20, 0x7F...0x9F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

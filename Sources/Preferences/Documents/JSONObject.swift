import Gate

/// JSON being put together. Members come out in the order they are added, so that equal states make
/// equal texts.
struct JSONObject {
  private var members = ""

  mutating func add(_ name: String, raw: String) {
    if !members.isEmpty { members += "," }
    members += "\"\(name)\":\(raw)"
  }

  mutating func add(_ name: String, _ text: String?) {
    add(name, raw: text.map(Self.quoted) ?? "null")
  }

  mutating func add(_ name: String, instant ms: Int64?) {
    add(name, ms.map(Instant.text))
  }

  /// Only where there is one.
  mutating func addIfPresent(_ name: String, _ text: String?) {
    if let text { add(name, text) }
  }

  mutating func addIfPresent(_ name: String, instant ms: Int64?) {
    if let ms { add(name, instant: ms) }
  }

  var isEmpty: Bool { members.isEmpty }
  var text: String { "{\(members)}" }

  static func array(_ elements: [String]) -> String {
    "[\(elements.joined(separator: ","))]"
  }

  static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
        let hex = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}

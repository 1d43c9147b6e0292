/// A `.properties` file: a `key=value` a line, `#` or `!` in front of a comment. Values are taken as
/// they are: no escapes, no continued lines, only the blanks around them fall away. So a password
/// with a backslash needs no doubling, and what is read is what stands there.
struct PropertiesFile {
  struct Entry: Equatable {
    var key: String
    var value: String
    /// From 1.
    var line: Int
  }

  static let bytesMax = 1 << 20

  /// What is wrong is told by line and never quotes it: the line may hold a password.
  static func parse(_ bytes: [UInt8], name: String) throws(CommandFailure) -> [Entry] {
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    var entries: [Entry] = []
    var problems: [String] = []
    for (i, raw) in rest.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      guard let text = String(validating: raw, as: UTF8.self), !raw.contains(0) else {
        problems.append("line \(i + 1) of \(name): not UTF-8 text")
        continue
      }
      let line = trim(text[...])
      if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("!") { continue }
      guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
        problems.append("line \(i + 1) of \(name): wants key=value")
        continue
      }
      let key = String(trim(line[..<equals]))
      if let first = entries.first(where: { $0.key == key }) {
        problems.append("line \(i + 1) of \(name): \(key) is set in line \(first.line) already")
        continue
      }
      let value = String(trim(line[line.index(after: equals)...]))
      entries.append(Entry(key: key, value: value, line: i + 1))
    }
    guard problems.isEmpty else {
      throw CommandFailure(ExitCode.configuration, problems.joined(separator: "\n"))
    }
    return entries
  }

  private static func trim(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    // A carriage return is a blank here: files come from Windows too.
    while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
    return text
  }
}

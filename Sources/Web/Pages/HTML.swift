/// A piece of HTML. What is written as a literal stands as it is; every text put into one is escaped,
/// so that forgetting it is not possible:
///
///     let row: HTML = "<li title=\"\(text)\">\(text)</li>"
struct HTML: ExpressibleByStringInterpolation, Sendable, Equatable {
  private(set) var text: String

  init(stringLiteral literal: StaticString) { text = "\(literal)" }

  init(stringInterpolation pieces: Pieces) { text = pieces.text }

  private init(markup: String) { text = markup }

  struct Pieces: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }
    mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
    mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
    mutating func appendInterpolation(_ piece: HTML) { text += piece.text }
    mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }
  }

  /// For text between tags and for attributes in double or single quotes. Characters that turn the
  /// direction of what follows stand as their code points: one that is not closed would turn what is
  /// beside it, whatever element is around it.
  static func escaped(_ value: String) -> String { escaped(value, showsDirections: true) }

  /// The value of a field, which comes back as it stands here. What is in a field turns nothing beside
  /// it.
  static func field(_ value: String) -> HTML {
    HTML(markup: escaped(value, showsDirections: false))
  }

  private static func escaped(_ value: String, showsDirections: Bool) -> String {
    var text = ""
    for character in value.unicodeScalars {
      switch character {
      case "\u{202A}"..."\u{202E}" where showsDirections,
        "\u{2066}"..."\u{2069}" where showsDirections:
        text += "[U+\(String(character.value, radix: 16, uppercase: true))]"
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }

  /// A style or a script of ours, inside which HTML knows no escapes.
  static func source(_ source: StaticString) -> HTML { HTML(markup: "\(source)") }

  static let nothing: HTML = ""

  /// Text in which names stand between backticks, as the registry of reasons has it.
  static func marked(_ value: String) -> HTML {
    let pieces = value.split(separator: "`", omittingEmptySubsequences: false)
    return HTML(
      markup: pieces.indices.map { index in
        let escaped = escaped(String(pieces[index]))
        return index % 2 == 1 ? "<code>\(escaped)</code>" : escaped
      }.joined())
  }

  static func joined(_ pieces: [HTML], by separator: HTML) -> HTML {
    HTML(markup: pieces.map(\.text).joined(separator: separator.text))
  }
}

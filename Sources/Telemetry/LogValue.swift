/// How much a log line matters.
public enum LogLevel: UInt8, CaseIterable, Comparable, Sendable {
  case debug, info, warning, error

  public var name: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }

  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// One value of a log line. There is no case for bytes, on purpose: payloads are never logged.
public enum LogValue: Sendable {
  case string(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)

  public static func integer(_ value: some BinaryInteger) -> LogValue {
    .integer(Int64(clamping: value))
  }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// What a line says beside its message: stable dotted keys (`kafka.topic`), in the order given.
/// Keys `time`, `level` and `message` are the line's own.
public typealias LogFields = KeyValuePairs<StaticString, LogValue>

/// One line before it is written. The message is a constant sentence and everything that varies is
/// in the fields, so that lines can be counted and repeats recognised by their message.
struct LogLine {
  var timeMs: Int64
  var level: LogLevel
  var message: String
  var fields: LogFields
  /// How many lines with this message were held back before it.
  var suppressed: Int

  /// The longest string value written, bytes; a longer one is cut and ends in an ellipsis.
  static let valueBytesMax = 1024

  static func bounded(_ text: String) -> String {
    guard text.utf8.count > valueBytesMax else { return text }
    var end = text.utf8.index(text.utf8.startIndex, offsetBy: valueBytesMax)
    // Not in the middle of a character: step back over its trailing bytes.
    while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }
}

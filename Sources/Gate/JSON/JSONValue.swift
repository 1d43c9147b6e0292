/// A JSON text as a tree, for what is read once at start and for the preference service. The gate's
/// hot path never makes one.
package indirect enum JSONValue {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  /// In the order written.
  case object([(name: String, value: JSONValue)])

  package init(_ text: UnsafeRawBufferPointer) throws(JSONFault) {
    guard text.count > 0 else { throw .malformedJSON }
    let indexer = JSONIndexer(capacity: text.count)
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
    defer { scratch.deallocate() }
    var reader = JSONReader(
      text, positions: try indexer.index(text), scratch: scratch, names: MemberNames(seed: 1))
    self = try Self.read(&reader)
    try reader.finish()
  }

  private static func read(_ reader: inout JSONReader) throws(JSONFault) -> JSONValue {
    switch reader.peek {
    case UInt8(ascii: "{"):
      var members: [(name: String, value: JSONValue)] = []
      try reader.readObject { (reader, name) throws(JSONFault) in
        members.append((String(decoding: name, as: UTF8.self), try read(&reader)))
      }
      return .object(members)
    case UInt8(ascii: "["):
      var elements: [JSONValue] = []
      try reader.readArray { (reader) throws(JSONFault) in elements.append(try read(&reader)) }
      return .array(elements)
    case UInt8(ascii: "\""):
      return .string(String(decoding: try reader.readString(), as: UTF8.self))
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
      return try reader.readLiteral().map { .bool($0) } ?? .null
    default:
      return .number(String(decoding: try reader.readNumber(), as: UTF8.self))
    }
  }

  /// As it would be written, for messages.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let digits): digits
    case .string(let value): "\"\(value)\""
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let members):
      "{\(members.map { "\"\($0.name)\":\($0.value.text)" }.joined(separator: ","))}"
    }
  }
}

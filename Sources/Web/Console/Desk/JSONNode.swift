import Gate

/// A JSON text that somebody else wrote, read leniently: what is not there, or is of another type,
/// is nil.
struct JSONNode {
  let value: JSONValue

  init(_ value: JSONValue) { self.value = value }

  /// Nil where it is no JSON.
  init?(_ text: [UInt8]) {
    do throws(JSONFault) {
      value = try text.withUnsafeBytes { bytes in
        Result { () throws(JSONFault) in try JSONValue(bytes) }
      }.get()
    } catch {
      return nil
    }
  }

  subscript(_ name: String) -> JSONNode {
    guard case .object(let members) = value,
      let member = members.first(where: { $0.name == name })
    else { return JSONNode(.null) }
    return JSONNode(member.value)
  }

  var members: [(name: String, value: JSONNode)] {
    guard case .object(let members) = value else { return [] }
    return members.map { ($0.name, JSONNode($0.value)) }
  }

  var elements: [JSONNode] {
    guard case .array(let elements) = value else { return [] }
    return elements.map { JSONNode($0) }
  }

  var text: String? {
    guard case .string(let text) = value else { return nil }
    return text
  }

  var bool: Bool? {
    guard case .bool(let flag) = value else { return nil }
    return flag
  }

  /// Of an instant as the gate writes it.
  var instantMs: Int64? { text.flatMap { Instant.parse(text: $0) } }

  /// As JSON.
  var json: [UInt8] {
    switch value {
    case .null: return Array("null".utf8)
    case .bool(let flag): return Array((flag ? "true" : "false").utf8)
    case .number(let digits): return Array(digits.utf8)
    case .string(let text):
      var bytes: [UInt8] = []
      JSONMembers.append(text, to: &bytes)
      return bytes
    case .array: return JSONMembers.array(elements.map(\.json))
    case .object:
      var object = JSONMembers()
      for (name, member) in members { object.add(name, json: member.json) }
      return object.bytes
    }
  }
}

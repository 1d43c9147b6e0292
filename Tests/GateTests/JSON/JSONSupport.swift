@testable import Gate

extension Tree {
  /// The gate's tree as the tests'.
  init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let digits): self = .number(digits)
    case .string(let text): self = .text(text)
    case .array(let elements): self = .array(elements.map { Tree($0) })
    case .object(let members):
      self = .object(
        members.map { Member(name: Array($0.name.utf8), value: Tree($0.value)) })
    }
  }
}

/// What the gate's reader makes of a text, every value read.
func gateReads(_ text: [UInt8]) -> Result<Tree, JSONFault> {
  Result { () throws(JSONFault) in
    // Exactly as long as the text, so that an address sanitizer sees a read past its end.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: text)
    return Tree(try JSONValue(UnsafeRawBufferPointer(copy)))
  }
}

func gateReads(_ text: String) -> Result<Tree, JSONFault> { gateReads(Array(text.utf8)) }

/// The fault of a text that is walked without being asked for: nil where it is passed over.
func gateSkips(_ text: [UInt8], opaque: Bool = false) -> JSONFault? {
  let indexer = JSONIndexer(capacity: max(64, text.count))
  let names = MemberNames(seed: 77)
  let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, text.count))
  defer { scratch.deallocate() }
  return text.withUnsafeBytes { bytes in
    do throws(JSONFault) {
      var reader = JSONReader(
        bytes, positions: try indexer.index(bytes), scratch: scratch, names: names)
      if opaque { try reader.skipOpaque() } else { try reader.skip() }
      try reader.finish()
      return nil
    } catch {
      return error
    }
  }
}

func nested(_ depth: Int, _ open: String, _ close: String, _ inner: String = "") -> String {
  String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
}

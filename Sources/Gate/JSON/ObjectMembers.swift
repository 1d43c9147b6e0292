/// One JSON object's members, each value as it is written, for those who look at what the gate wrote
/// long after: the values are read one by one, and the ones that are carried opaque are left alone.
package enum ObjectMembers {
  /// In the order written; the bytes are those of `text`. Nil where it is not one object as the gate
  /// reads it.
  package static func read(
    _ text: UnsafeRawBufferPointer
  ) -> [(name: String, value: UnsafeRawBufferPointer)]? {
    guard !text.isEmpty else { return nil }
    let indexer = JSONIndexer(capacity: text.count)
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
    defer { scratch.deallocate() }
    var members: [(name: String, value: UnsafeRawBufferPointer)] = []
    do throws(JSONFault) {
      // One level more than a candidate may have: the record of a decision carries one.
      var reader = JSONReader(
        text, positions: try indexer.index(text), scratch: scratch, names: MemberNames(seed: 1),
        depthMax: JSONReader.depthMax + 1)
      try reader.readObject { (reader, name) throws(JSONFault) in
        let name = String(decoding: name, as: UTF8.self)
        let start = reader.offset
        try reader.skipOpaque()
        // The next token is a comma or the closing brace; white space before it is nobody's.
        members.append((name, reader.written(from: start, to: reader.offset)))
      }
      try reader.finish()
      return members
    } catch {
      return nil
    }
  }
}

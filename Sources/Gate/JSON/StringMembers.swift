/// The string members of one JSON object, for those who read what the gate and its dispatchers wrote:
/// approvals, receipts. Members of other types are walked and passed over.
public struct StringMembers: ~Copyable {
  private let indexer: JSONIndexer
  private let names = MemberNames(seed: UInt64.random(in: 0...UInt64.max))
  private let scratch: UnsafeMutablePointer<UInt8>
  private let bytesMax: Int

  /// - Parameter bytesMax: of one text; a longer one is not read.
  public init(bytesMax: Int) {
    self.bytesMax = bytesMax
    indexer = JSONIndexer(capacity: bytesMax)
    scratch = .allocate(capacity: bytesMax)
  }

  deinit { scratch.deallocate() }

  /// Calls `member` with name and text of each, in the order written; both live until it returns.
  /// False where the bytes are not one object as the gate reads it; members may have been passed on
  /// by then.
  public mutating func read(
    _ value: UnsafeRawBufferPointer,
    _ member: (_ name: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    guard !value.isEmpty, value.count <= bytesMax else { return false }
    do throws(JSONFault) {
      // One level more than a candidate may have: an approval carries one.
      var reader = JSONReader(
        value, positions: try indexer.index(value), scratch: scratch, names: names,
        depthMax: JSONReader.depthMax + 1)
      try reader.readObject { (reader, name) throws(JSONFault) in
        if reader.peek == UInt8(ascii: "\"") {
          member(name, try reader.readString())
        } else {
          try reader.skipOpaque()
        }
      }
      try reader.finish()
      return true
    } catch {
      return false
    }
  }
}

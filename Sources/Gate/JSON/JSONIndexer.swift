import CJSON

/// Where the tokens of a text start: simdjson's first stage, with its memory. One per thread.
struct JSONIndexer: ~Copyable {
  private let handle: OpaquePointer

  /// - Parameter capacity: bytes of the longest text that costs no allocation.
  init(capacity: Int) {
    guard let handle = cj_create(capacity) else { preconditionFailure("out of memory") }
    self.handle = handle
  }

  deinit { cj_destroy(handle) }

  /// The positions live until the next call.
  func index(_ text: UnsafeRawBufferPointer) throws(JSONFault) -> UnsafeBufferPointer<UInt32> {
    guard let base = text.baseAddress else { throw .malformedJSON }
    var positions: UnsafePointer<UInt32>?
    var count: UInt32 = 0
    let bytes = base.assumingMemoryBound(to: UInt8.self)
    switch cj_index(handle, bytes, text.count, &positions, &count) {
    case CJ_OK: return UnsafeBufferPointer(start: positions, count: Int(count))
    case CJ_INVALID_UTF8: throw .malformedUTF8
    case CJ_NO_MEMORY: preconditionFailure("out of memory")
    default: throw .malformedJSON
    }
  }
}

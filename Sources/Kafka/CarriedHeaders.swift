import CKafka

/// The headers that a decision carries beside the gate's own three.
public enum CarriedHeaders {
  case none
  /// Those of a record that was read (`RecordView.handle`).
  case of(OpaquePointer)
  /// Those that a `HeaderKeeper` made bytes of.
  case kept(UnsafeRawBufferPointer)

  public var isNone: Bool {
    if case .none = self { true } else { false }
  }
}

/// Turns a record's headers into bytes that outlive it.
public final class HeaderKeeper {
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)

  public init() {}

  deinit { buffer.deallocate() }

  /// What a decision made from the record carries. Lives until the next call.
  public func keep(of record: OpaquePointer) -> UnsafeRawBufferPointer {
    let message = UnsafePointer<rd_kafka_message_t>(record)
    var size = ck_kept_headers(message, buffer.baseAddress, buffer.count)
    if size > buffer.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: size, alignment: 8)
      size = ck_kept_headers(message, buffer.baseAddress, buffer.count)
    }
    return UnsafeRawBufferPointer(rebasing: buffer[..<size])
  }
}

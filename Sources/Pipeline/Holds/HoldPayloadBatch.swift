import Glibc

/// Payloads of some holds, copied together: they live until `removeAll`. Kept from batch to batch.
public final class HoldPayloadBatch {
  private var base = UnsafeMutablePointer<UInt8>(bitPattern: 0x10)!
  private var capacity = 0
  private var used = 0
  private var frames: [(start: Int, headers: Int, value: Int)?] = []

  public init() {}

  deinit { if capacity > 0 { _ = MemoryRun.resize(base, from: capacity, to: 0) } }

  public var count: Int { frames.count }

  /// Nil where it was not found.
  public subscript(_ index: Int) -> HoldPayload? {
    guard let frame = frames[index] else { return nil }
    return HoldPayload(
      value: UnsafeRawBufferPointer(start: base + frame.start + frame.headers, count: frame.value),
      headers: UnsafeRawBufferPointer(start: base + frame.start, count: frame.headers))
  }

  func reset(count: Int) {
    used = 0
    frames.removeAll(keepingCapacity: true)
    frames.append(contentsOf: repeatElement(nil, count: count))
  }

  func set(_ index: Int, _ payload: HoldPayload) {
    let bytes = payload.headers.count + payload.value.count
    if used + bytes > capacity {
      let larger = max(used + bytes, capacity * 2, 1 << 16)
      base = MemoryRun.resize(base, from: capacity, to: larger)
      capacity = larger
    }
    if let start = payload.headers.baseAddress {
      memcpy(base + used, start, payload.headers.count)
    }
    if let start = payload.value.baseAddress {
      memcpy(base + used + payload.headers.count, start, payload.value.count)
    }
    frames[index] = (used, payload.headers.count, payload.value.count)
    used += bytes
  }
}

/// Where payloads that memory had no room for are read again.
public protocol HoldPayloadSource: AnyObject {
  /// Reads the records of the partition's `notifications.deferred` at these offsets, which ascend, and
  /// calls `body` with the position of each in `offsets`. The newest record of a key is never
  /// compacted away, so one that is not there is a fault.
  func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure)

  /// Reads some of what is committed there from an offset on, and calls `body` with the offset and key of
  /// each record that is no null value. Returns where to go on.
  func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64
}

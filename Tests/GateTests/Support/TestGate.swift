@testable import Gate

/// One record as the gate wrote it, copied out.
struct Decided {
  var outcome: Outcome
  var reason: Reason
  var category: Gate.Category?
  var inputIndex: Int
  var key: [UInt8]?
  var value: [UInt8]
  var notificationID: [UInt8]?

  /// Read by a parser that is not the gate's.
  var tree: Tree { (try? StrictParser.parse(value)) ?? .null }

  subscript(path: String) -> Tree? { tree[path] }

  /// Outcome and reason, for tables.
  var verdict: String { "\(outcome.name) \(reason.name)" }

  init(_ record: OutputRecord) {
    outcome = record.outcome
    reason = record.reason
    category = record.category
    inputIndex = record.inputIndex
    key = record.key.map { Array($0) }
    value = Array(record.value)
    notificationID = record.notificationID.map { Array($0) }
  }
}

/// A whole gate in memory: what a lane has, without a broker.
final class TestGate {
  let epochs = Epochs()
  let zones = SystemZones.publisher
  let table: PreferenceTable
  let engine: Engine

  init(
    lane: Lane = .ordinary, policy: Policy = .builtIn, partitionCount: Int32 = 0,
    documents: [String] = [], defaults: [String] = [], state: LaneState? = nil,
    holds: (any PendingHolds)? = nil, links: LinkSettings? = nil
  ) {
    table = PreferenceTable(hashKey: (1, 2), zones: zones, epochs: epochs)
    engine = Engine(
      lane: lane, policy: policy, preferences: table, zones: zones,
      partitionCount: partitionCount, state: state, holds: holds, links: links, seed: 3)
    for (offset, document) in documents.enumerated() { apply(document, offset: Int64(offset)) }
    for record in defaults {
      precondition(Array(record.utf8).withUnsafeBytes { table.applyDefault(record: $0) })
    }
  }

  @discardableResult
  func apply(_ document: String, offset: Int64 = 0) -> PreferenceTable.Applied {
    apply(Array(document.utf8), offset: offset)
  }

  @discardableResult
  func apply(_ document: [UInt8], offset: Int64 = 0) -> PreferenceTable.Applied {
    document.withUnsafeBytes { table.apply(document: $0, offset: offset) }
  }

  /// One candidate, at an instant in milliseconds.
  func decide(
    _ value: [UInt8]?, nowMs: Int64, key: [UInt8]? = nil, partition: Int32 = 0
  ) -> [Decided] {
    decideAll([(value, key, partition)], nowMs: nowMs)
  }

  func decide(_ value: String, at now: String) -> [Decided] {
    decide(Array(value.utf8), nowMs: instant(now) * 1000)
  }

  func decideAll(
    _ inputs: [(value: [UInt8]?, key: [UInt8]?, partition: Int32)], nowMs: Int64
  ) -> [Decided] {
    let buffers = inputs.map { (Self.copy($0.value), Self.copy($0.key)) }
    defer {
      for (value, key) in buffers {
        value?.deallocate()
        key?.deallocate()
      }
    }
    let records = zip(inputs, buffers).map { input, buffers in
      InputRecord(
        partition: input.partition, offset: 0, timestampMs: nowMs,
        key: buffers.1.map { UnsafeRawBufferPointer($0) },
        value: buffers.0.map { UnsafeRawBufferPointer($0) }, handle: nil)
    }
    return records.withUnsafeBufferPointer { records in
      engine.decide(records, nowMs: nowMs).map { Decided($0) }
    }
  }

  /// Exactly as long as the bytes, so that a read past the end is one an address sanitizer sees.
  private static func copy(_ bytes: [UInt8]?) -> UnsafeMutableRawBufferPointer? {
    guard let bytes else { return nil }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    return copy
  }
}

/// Calls `body` with the bytes of a text.
func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
  try Array(text.utf8).withUnsafeBytes { try body($0) }
}

/// The file of the repository at a path from its root.
func repositoryFile(_ path: String) -> [UInt8] {
  let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  return SystemZones.bytes("/\(root)/\(path)")
}

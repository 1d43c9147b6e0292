import Preferences

@testable import Gate

/// The gate, fed with what the service publishes.
final class GateSide {
  let table: PreferenceTable
  private let engine: Engine
  private var offset: Int64 = 0

  init(_ lane: Lane = .ordinary) {
    let epochs = Epochs()
    table = PreferenceTable(hashKey: (1, 2), zones: TestZones.publisher, epochs: epochs)
    engine = Engine(
      lane: lane, policy: .builtIn, preferences: table, zones: TestZones.publisher,
      partitionCount: 0, seed: 3)
  }

  /// One record of `preferences.state`.
  @discardableResult
  func publish(_ user: Identifier, _ document: String?) -> PreferenceTable.Applied {
    offset += 1
    return withBytes(user.text) { key in
      guard let document else { return table.apply(key: key, value: nil, offset: offset) }
      return withBytes(document) { table.apply(key: key, value: $0, offset: offset) }
    }
  }

  /// One record of `preferences.defaults`.
  func publishDefault(_ category: Category, _ text: String?) -> Bool {
    withBytes("\(category.name)") { key in
      guard let text else { return table.applyDefault(key: key, value: nil) }
      return withBytes(text) { table.applyDefault(key: key, value: $0) }
    }
  }

  /// Reasons by device, in the order of the document.
  func decide(
    _ category: Category, user: Identifier = "u-1", nowMs: Int64 = testNow,
    members: String = ""
  ) -> [String] {
    let candidate =
      #"{"notification_id":"n-\#(offset)-\#(UInt32.random(in: 0...UInt32.max))","user_id":"\#(user)","#
      + #""category":"\#(category.name)"\#(members)}"#
    return withBytes(candidate) { value in
      let record = InputRecord(
        partition: 0, offset: 0, timestampMs: nowMs, key: nil, value: value, handle: nil)
      return withUnsafePointer(to: record) {
        engine.decide(UnsafeBufferPointer(start: $0, count: 1), nowMs: nowMs)
          .map { "\($0.reason.name)" }
      }
    }
  }

  func block(_ user: Identifier) -> PackedBlock? {
    let hash = withBytes(user.text) { table.hash($0) }
    guard let block = table.find(hash), table.confirm(block, hash) else { return nil }
    return block
  }
}

func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
  Array(text.utf8).withUnsafeBytes { body($0) }
}

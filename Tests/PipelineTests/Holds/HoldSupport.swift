import Gate

@testable import Pipeline

/// A hold as a test thinks of it.
struct TestHold {
  var identity: HoldIdentity
  var collapse: UInt32?
  var spread: UInt32 = 0
  var provider = Provider.apns
  var untilMs: Int64
  var expiresAtMs: Int64?
  var text: String

  var facts: HoldFacts {
    HoldFacts(
      identity: identity, collapse: collapse, spread: spread, provider: provider,
      deliverAfterMs: untilMs, expiresAtMs: expiresAtMs, heldUntilMs: untilMs)
  }

  init(user: UInt64, id: UInt64, untilMs: Int64, provider: Provider = .apns) {
    identity = HoldIdentity(user: user, hold: id)
    self.provider = provider
    self.untilMs = untilMs
    text = "hold \(id) of user \(user)"
  }
}

extension HoldStore {
  func restore(_ hold: TestHold, offset: Int64 = 0, nowMs: Int64 = HoldStore.testNowMs) {
    withPayload(hold.text) { _ = restore(hold.facts, $0, offset: offset, nowMs: nowMs) }
  }

  @discardableResult
  func add(_ hold: TestHold, nowMs: Int64 = HoldStore.testNowMs) -> HoldSlot {
    withPayload(hold.text) { add(hold.facts, $0, nowMs: nowMs) }
  }

  /// 2026-01-14T22:00:00Z.
  static let testNowMs: Int64 = 1_768_428_000_000

  static func make(
    spreadMs: Int64 = 0, payloadBytesMax: Int = Int.max, nowMs: Int64 = testNowMs
  ) -> HoldStore {
    HoldStore(
      partition: 3,
      settings: Settings(
        spread: HoldSpread(spreadMs: spreadMs), payloadBytesMax: payloadBytesMax),
      nowMs: nowMs)
  }

  func take(_ provider: Provider = .apns, at nowMs: Int64, max: Int = Int.max) -> [HoldSlot] {
    var out: [HoldSlot] = []
    _ = takeDue(provider, notAfterMs: nowMs, max: max, into: &out)
    return out
  }

  func texts(_ slots: [HoldSlot], from topic: FakeTopic = FakeTopic()) throws -> [String] {
    let batch = HoldPayloadBatch()
    try read(slots, from: topic, into: batch)
    return (0..<batch.count).map { String(decoding: batch[$0]!.value, as: UTF8.self) }
  }
}

func withPayload<R>(_ text: String, headers: String = "h", _ body: (HoldPayload) -> R) -> R {
  Array(text.utf8).withUnsafeBytes { value in
    Array(headers.utf8).withUnsafeBytes { body(HoldPayload(value: value, headers: $0)) }
  }
}

/// The deferred topic, as far as a store reads it again.
final class FakeTopic: HoldPayloadSource {
  func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64 { offset }

  var records: [Int64: String] = [:]
  private(set) var reads: [[Int64]] = []
  var failure: Failure?

  func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure) {
    reads.append(offsets)
    if let failure { throw failure }
    for (index, offset) in offsets.enumerated() {
      guard let text = records[offset] else { continue }
      withPayload(text) { body(index, $0) }
    }
  }
}

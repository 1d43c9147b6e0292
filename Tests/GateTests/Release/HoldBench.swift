import Testing

@testable import Gate

/// A gate with a releaser beside it, and the life of a hold as its records tell it.
final class HoldBench {
  let gate: TestGate
  let releaser: Releaser

  init(policy: Policy = .builtIn, documents: [String], links: LinkSettings? = nil) {
    gate = TestGate(policy: policy, documents: documents)
    releaser = Releaser(
      policy: policy, preferences: gate.table, zones: gate.zones, links: links, seed: 4)
  }

  /// A released hold, copied out.
  struct Outcome {
    var fate: ReleasedHold.Fate
    var key: [UInt8]?
    var record: Decided?
    var provider: Provider

    init(_ released: ReleasedHold) {
      fate = released.fate
      key = released.key.map { Array($0) }
      record = released.record.map { Decided($0) }
      provider = released.provider
    }

    /// Fate and reason, for tables.
    var verdict: String { "\(fate)\(record.map { " \($0.reason.name)" } ?? "")" }
    subscript(path: String) -> String? { record?.tree[path]?.text }
  }

  /// The deferred record of a candidate.
  func hold(_ candidate: String, at now: String) -> Decided {
    let decided = gate.decide(candidate, at: now)
    precondition(decided.count == 1 && decided[0].outcome == .deferred, "\(decided)")
    return decided[0]
  }

  func release(_ records: [[UInt8]?], nowMs: Int64, erasedOnly: Bool = false) -> [Outcome] {
    withInputs(records) {
      releaser.release($0, nowMs: nowMs, erasedOnly: erasedOnly).map { Outcome($0) }
    }
  }

  func release(_ record: Decided, at now: String, erasedOnly: Bool = false) -> Outcome {
    release([record.value], nowMs: instant(now) * 1000, erasedOnly: erasedOnly)[0]
  }

  func supersede(_ record: Decided, by newer: Decided, collapseKey: String?, at now: String)
    -> Outcome
  {
    withInputs([record.value]) { inputs in
      newer.value.withUnsafeBytes { value in
        newer.notificationID!.withUnsafeBytes { id in
          Array((newer["device_id"]?.text ?? "").utf8).withUnsafeBytes { device in
            Array((collapseKey ?? "").utf8).withUnsafeBytes { collapse in
              let output = OutputRecord(
                outcome: newer.outcome, reason: newer.reason, category: newer.category,
                inputIndex: 0, key: nil, value: value, notificationID: id, deviceID: device,
                collapseKey: collapseKey == nil ? nil : collapse)
              return [output].withUnsafeBufferPointer {
                Outcome(releaser.supersede(inputs, by: $0, nowMs: instant(now) * 1000)[0])
              }
            }
          }
        }
      }
    }
  }

  func facts(_ record: Decided, at now: String, key: [UInt8]? = nil) -> HoldFacts? {
    (key ?? record.key!).withUnsafeBytes { key in
      record.value.withUnsafeBytes {
        releaser.facts(key: key, value: $0, nowMs: instant(now) * 1000)
      }
    }
  }

  private func withInputs<R>(
    _ records: [[UInt8]?], _ body: (UnsafeBufferPointer<InputRecord>) -> R
  ) -> R {
    let copies = records.map { record in
      record.map { bytes in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return copy
      }
    }
    defer { for copy in copies { copy?.deallocate() } }
    let inputs = copies.map {
      InputRecord(
        partition: 0, offset: 0, timestampMs: 0, key: nil, value: $0.map { Bytes($0) }, handle: nil)
    }
    return inputs.withUnsafeBufferPointer(body)
  }

  static func document(
    user: String = "u", devices: String? = nil, account: String = "", version: Int = 1,
    zone: String = "Europe/Berlin", permission: String = "granted", token: String = "active",
    window: String = #"{"start":"22:00","end":"07:00"}"#
  ) -> String {
    let device =
      devices ?? """
        {"device_id":"d","platform":"android","os_permission":"\(permission)",\
        "token_status":"\(token)","timezone":"\(zone)","region":"DE"}
        """
    return """
      {"user_id":"\(user)","version":\(version),\
      "account":{"quiet_hours":\(window)\(account)},"devices":[\(device)]}
      """
  }

  static func candidate(_ id: String = "n", _ more: String = "") -> String {
    #"{"notification_id":"\#(id)","user_id":"u","category":"transactional"\#(more)}"#
  }
}

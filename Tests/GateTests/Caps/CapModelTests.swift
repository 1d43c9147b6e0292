import Testing

@testable import Gate

/// Everything that moves a count, at random, against a model that keeps whole lists and tries every
/// span: approvals, fan-outs, receipts, aborts, restarts on a compacted topic.
@Suite struct CapModelTests {
  struct Entry: Equatable {
    var atMs: Int64
    /// Device to whether it was rejected.
    var devices: [String: Bool]
    var state: CapEntry.State
  }
  struct Counter: Hashable {
    var user: String
    var category: String
  }
  struct Model {
    var counters: [Counter: [String: Entry]] = [:]
    var seen: Set<String> = []

    func isFull(_ counter: Counter, _ caps: [(count: Int, windowMs: Int64?)], _ nowMs: Int64)
      -> Bool
    {
      let counted = (counters[counter] ?? [:]).values.filter { $0.state != .refunded }.map(\.atMs)
      return caps.contains { cap in
        guard let windowMs = cap.windowMs else {
          return counted.filter { $0 / 86_400_000 == nowMs / 86_400_000 }.count >= cap.count
        }
        // Time only goes on here: the span that ends now is the fullest.
        return counted.filter { $0 > nowMs - windowMs }.count >= cap.count
      }
    }

    /// Returns whether it goes out.
    mutating func approve(
      _ counter: Counter, _ id: String, _ device: String, _ caps: [(count: Int, windowMs: Int64?)],
      _ nowMs: Int64
    ) -> String {
      let name = "\(counter.user) \(id) \(device)"
      guard !seen.contains(name) else { return "duplicate" }
      var entry = counters[counter]?[id]
      if entry == nil || entry!.state == .refunded, isFull(counter, caps, nowMs) {
        return "frequency_capped"
      }
      seen.insert(name)
      switch entry?.state {
      case nil: entry = Entry(atMs: nowMs, devices: [device: false], state: .open)
      case .open: entry!.devices[device] = false
      case .refunded: entry = Entry(atMs: nowMs, devices: [:], state: .recounted)
      case .accepted, .recounted: break
      }
      counters[counter, default: [:]][id] = entry
      return "ok"
    }

    mutating func answer(_ user: String, _ id: String, _ device: String, _ isAccepted: Bool) {
      for counter in counters.keys where counter.user == user {
        guard var entry = counters[counter]![id], entry.state == .open,
          entry.devices[device] != nil
        else { continue }
        if isAccepted {
          entry = Entry(atMs: entry.atMs, devices: [:], state: .accepted)
        } else {
          entry.devices[device] = true
          if entry.devices.values.allSatisfy({ $0 }) {
            entry = Entry(atMs: entry.atMs, devices: [:], state: .refunded)
          }
        }
        counters[counter]![id] = entry
      }
    }
  }

  static let users = ["u", "v"]
  static let categories = ["social", "transactional"]

  static func document(_ user: String) -> String {
    let devices = ["a", "b", "c"].map { DuplicateTests.device($0) }.joined(separator: ",")
    return #"{"user_id":"\#(user)","version":1,"account":{},"devices":[\#(devices)]}"#
  }

  /// A state topic: what is committed, and what the open transaction adds.
  struct Topic {
    var committed: [CapTests.Written] = []
    var open: [CapTests.Written] = []

    /// Only the last record of a key, where that was written.
    var compacted: [CapTests.Written] {
      committed.indices.filter { i in
        !committed[(i + 1)...].contains { $0.key == committed[i].key }
      }.map { committed[$0] }
    }
  }

  @Test(arguments: 0..<12) func atRandom(_ round: Int) {
    var random = SeededGenerator()
    let caps: [(count: Int, windowMs: Int64?)] = [
      [(2, 45_000)], [(1, nil)], [(3, 90_000), (5, 400_000)], [(4, nil), (2, 60_000)],
    ][round % 4]
    let json = caps.enumerated().map { i, cap in
      cap.windowMs.map { CapSupport.sliding(cap.count, seconds: $0 / 1000, "c\(i)") }
        ?? CapSupport.daily(cap.count, "c\(i)")
    }.joined(separator: ",")
    let policy = CapSupport.policy(
      transactional: "[\(json)]", social: "[\(json)]",
      edit: {
        $0.replacing(#""duplicates_horizon_hours": 96"#, with: #""duplicates_horizon_hours": 60"#)
          .replacing(#""hold_hours_max": 72"#, with: #""hold_hours_max": 1"#)
      })
    let documents = Self.users.map(Self.document)
    var lane = DuplicateTests.Lane(documents, policy: policy)
    var refunder = Refunder(state: lane.state, partitionCount: 1, seed: 1)
    var topic = Topic()
    var (model, committed) = (Model(), Model())
    var nowMs = DuplicateTests.nowMs
    for step in 0..<1500 {
      nowMs += Int64.random(in: 0...Int64(round < 8 ? 15_000 : 60_000), using: &random)
      // A day, now and then, must not outlast what is remembered.
      guard nowMs < DuplicateTests.nowMs + 55 * CapSupport.hourMs else { break }
      let user = Self.users.randomElement(using: &random)!
      let id = "n\(max(0, step / 3 - Int.random(in: 0...30, using: &random)))"
      let device = ["a", "b", "c"].randomElement(using: &random)!
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        let category = Self.categories.randomElement(using: &random)!
        let fansOut = Bool.random(using: &random)
        let more = fansOut ? "" : #","device_id":"\#(device)""#
        let value =
          #"{"notification_id":"\#(id)","user_id":"\#(user)","category":"\#(category)"\#(more)}"#
        let decided = lane.gate.decide(Array(value.utf8), nowMs: nowMs)
        topic.open += CapTests.written(lane)
        let counter = Counter(user: user, category: category)
        let wanted = (fansOut ? ["a", "b", "c"] : [device]).map {
          model.approve(counter, id, $0, caps, nowMs)
        }
        #expect(
          decided.map { String(describing: $0.reason.name) } == wanted,
          "step \(step) seed \(random.seed)")
        for one in decided where one.reason == .frequencyCapped {
          let freesAt = Instant.parse(text: one["cap.frees_at"]!.text!)!
          #expect(model.isFull(counter, caps, nowMs) && model.isFull(counter, caps, freesAt - 1))
          #expect(!model.isFull(counter, caps, freesAt), "step \(step) seed \(random.seed)")
        }
      case 10..<15:
        let isAccepted = Int.random(in: 0..<4, using: &random) == 0
        let text =
          #"{"notification_id":"\#(id)","device_id":"\#(device)","user_id":"\#(user)","provider":"apns","status":"\#(isAccepted ? "accepted" : "rejected")","at":1773095400000}"#
        Self.take(text, user, refunder, nowMs)
        topic.open += refunder.stateRecords.map {
          CapTests.Written(key: Array($0.key), value: $0.value.map { Array($0) })
        }
        model.answer(user, id, device, isAccepted)
      case 15..<17:
        lane.state.commit(nowMs: nowMs)
        topic.committed += topic.open
        topic.open = []
        committed = model
      case 17:
        lane.state.rollback()
        topic.open = []
        model = committed
      default:
        guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
        // Another process, on what is committed.
        lane = DuplicateTests.Lane(documents, policy: policy)
        CapTests.restore(
          Bool.random(using: &random) ? topic.compacted : topic.committed, into: lane, nowMs: nowMs)
        refunder = Refunder(state: lane.state, partitionCount: 1, seed: 1)
        topic.open = []
        model = committed
      }
    }
    #expect(lane.state.cappedCount == model.counters.values.reduce(0) { $0 + $1.count })
  }

  static func take(_ text: String, _ user: String, _ refunder: Refunder, _ nowMs: Int64) {
    withBytes(text) { value in
      withBytes(user) { key in
        let record = InputRecord(
          partition: 0, offset: 0, timestampMs: 0, key: key, value: value, handle: nil)
        withUnsafePointer(to: record) {
          refunder.take(UnsafeBufferPointer(start: $0, count: 1), nowMs: nowMs)
        }
      }
    }
  }
}

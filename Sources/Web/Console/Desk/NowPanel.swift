import Gate
import Preferences
import Synchronization

/// What would happen at this moment to a plain notification of each category, on each device: the
/// gate's own engine over the user's document as the store has it now. Nothing is remembered, so no
/// cap and no duplicate counts.
///
/// One thing of its kind in a process; whoever asks at the same time waits for a few microseconds.
public final class NowPanel: Sendable {
  private struct Gate: ~Copyable, @unchecked Sendable {
    // Unchecked: reached under the lock only.
    let table: PreferenceTable
    let engine: Engine
    /// Of the readers of the zones: a reload waits for this one too before it frees what it replaced.
    let slot: Int
  }

  private let gate: Mutex<Gate>
  private let zones: ZonePublisher
  private let epochs: Epochs
  private let policy: Policy
  private let nowMs: @Sendable () -> Int64

  /// - Parameter epochs: those that `zones` was made with.
  public init(
    policy: Policy, zones: ZonePublisher, epochs: Epochs, nowMs: @escaping @Sendable () -> Int64
  ) {
    self.policy = policy
    self.zones = zones
    self.epochs = epochs
    self.nowMs = nowMs
    let table = PreferenceTable(
      hashKey: (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max))), zones: zones,
      epochs: epochs)
    gate = Mutex(
      Gate(
        table: table,
        engine: Engine(
          lane: .ordinary, policy: policy, preferences: table, zones: zones, partitionCount: 0),
        slot: epochs.register()))
  }

  /// - Parameters:
  ///   - user: nil where nothing is kept of the user, which is decided too: `unknown_user`.
  ///   - defaults: those that were set, over the policy's.
  func ask(_ id: Identifier, _ user: UserPreferences?, defaults: DefaultsState) -> NowAnswer {
    let document = user.flatMap { $0.version > 0 ? PreferenceDocument.text($0) : nil }
    let at = nowMs()
    let records = gate.withLock { gate -> [(Category, [UInt8])] in
      epochs.passBoundary(gate.slot)
      defer { epochs.goIdle(gate.slot) }
      Self.set(defaults, in: gate.table)
      if let document { Self.apply(document, of: id, to: gate.table) }
      defer { Self.apply(nil, of: id, to: gate.table) }
      return Category.allCases.flatMap { category in
        Self.decide(id, category, gate.engine, at).map { (category, $0) }
      }
    }
    return NowAnswer(
      atMs: at, policyVersion: policy.version,
      preferenceVersion: document == nil ? nil : user?.version,
      decisions: records.compactMap { NowDecision($0.0, record: $0.1) })
  }

  /// What the clocks of a zone showed, as `2026-03-09 23:30`; nil where there is no such zone.
  func localTime(_ ms: Int64, in zone: String) -> String? {
    // Asked first: a name that somebody made up is not to have a number.
    guard zones.isKnown(zone) else { return nil }
    var name = zone
    let number = name.withUTF8 { zones.intern(UnsafeRawBufferPointer($0)) }
    let offset = gate.withLock { gate in
      epochs.passBoundary(gate.slot)
      defer { epochs.goIdle(gate.slot) }
      return zones.current.offsetInterval(number, atSeconds: ms / 1_000).offsetSeconds
    }
    return String(ConsoleContext.text(ms + Int64(offset) * 1_000).prefix(16))
  }

  private static func set(_ defaults: DefaultsState, in table: PreferenceTable) {
    for category in Category.allCases {
      let name = Array("\(category.name)".utf8)
      let value = DefaultDocument.text(category, defaults[category]).map { Array($0.utf8) }
      name.withUnsafeBytes { name in
        guard let value else {
          _ = table.applyDefault(key: name, value: nil)
          return
        }
        value.withUnsafeBytes { _ = table.applyDefault(key: name, value: $0) }
      }
    }
  }

  /// A null value takes the user away again, so that nobody's document stays here.
  private static func apply(_ document: String?, of id: Identifier, to table: PreferenceTable) {
    Array(id.text.utf8).withUnsafeBytes { key in
      guard let document else {
        _ = table.apply(key: key, value: nil, offset: 0)
        return
      }
      Array(document.utf8).withUnsafeBytes { _ = table.apply(key: key, value: $0, offset: 0) }
    }
  }

  private static func decide(
    _ id: Identifier, _ category: Category, _ engine: Engine, _ nowMs: Int64
  ) -> [[UInt8]] {
    var candidate = JSONMembers()
    candidate.add("notification_id", "now")
    candidate.add("user_id", id.text)
    candidate.add("category", "\(category.name)")
    return candidate.bytes.withUnsafeBytes { value in
      let record = InputRecord(
        partition: 0, offset: 0, timestampMs: nowMs, key: nil, value: value, handle: nil)
      return withUnsafePointer(to: record) { record in
        engine.decide(UnsafeBufferPointer(start: record, count: 1), nowMs: nowMs)
          .map { Array($0.value) }
      }
    }
  }
}

/// The panel's answer.
struct NowAnswer: Sendable, Equatable {
  var atMs: Int64
  var policyVersion: String
  /// Nil where there is no document.
  var preferenceVersion: Int64?
  /// By category, then by device in the order of the document.
  var decisions: [NowDecision]

  /// The devices decided about; nil stands for the user where no device was looked at.
  var devices: [String?] {
    var seen: [String?] = []
    for decision in decisions where !seen.contains(decision.deviceID) {
      seen.append(decision.deviceID)
    }
    return seen
  }

  subscript(_ device: String?, _ category: Category) -> NowDecision? {
    decisions.first { $0.deviceID == device && $0.category == category }
  }
}

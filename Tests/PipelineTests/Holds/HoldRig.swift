import Glibc

@testable import Gate
@testable import Pipeline

/// A loop that holds: the real engine and releaser on the fakes. The wall clock begins at
/// 2023-11-14T22:30:00Z, inside the window that documents here have unless they say otherwise; it ends
/// at 22:31:00.
final class HoldRig {
  static let endMs: Int64 = 1_700_001_060_000

  let cluster: FakeCluster
  let clock = FakeClock()
  let source: FakeSource
  let sink: FakeSink
  let states: FakeStateSource
  let topic: FakeHoldsTopic
  let control = LaneControl()
  var readiness = PreferenceReadiness()
  let counters = LoopCounters()
  let changes = PreferenceChanges()
  let optOuts = OptOutNotes()
  var approvalsMax = 1 << 12
  var objectiveMs: Int64 = 30
  let epochs = Epochs()
  let zones: ZonePublisher
  let preferences: PreferenceTable
  private let slot: Int
  private(set) var events: [LoopEvent] = []
  var policy = Policy.builtIn
  var pollsMax = 1500
  var spreadMs: Int64 = 0
  var perSecond: Int64?
  var payloadBytesMax = Int.max
  var commitIntervalMs: Int64 = 20
  /// Called at the start of each poll.
  var onPoll: (Int) -> Void = { _ in }
  /// Ends the run where it is true at a poll with nothing left to decide.
  var isOver: () -> Bool = { false }

  /// - Parameter assign: the partitions that the group gives it at the start; nil: all.
  init(on cluster: FakeCluster, isTransactional: Bool = true, assign: [Int32]? = nil) {
    self.cluster = cluster
    source = FakeSource(cluster, clock)
    sink = FakeSink(cluster, isTransactional: isTransactional)
    states = FakeStateSource(cluster, holds: true)
    topic = FakeHoldsTopic(cluster)
    zones = ZonePublisher(epochs: epochs)
    preferences = PreferenceTable(hashKey: (1, 2), zones: zones, epochs: epochs)
    slot = epochs.register()
    publishZones()
    source.note(.assigned(assign ?? cluster.partitions))
    readiness.setFresh(atMs: clock.nowMs)
    readiness.becomeReady()
  }

  convenience init(partitions: Int32 = 2, _ candidates: [(Int32, String)]) {
    self.init(on: FakeCluster.holding(candidates, partitions: partitions))
    for user in Set(candidates.map { Self.user(of: $0.1) }) { prefer(Self.document(user)) }
  }

  private static func user(of candidate: String) -> String {
    String(candidate.text(after: #""user_id":""#).prefix { $0 != "\"" })
  }

  /// New York's clock is moved to where Tokyo's is, or back.
  func publishZones(newYorkIsTokyo: Bool = false) {
    var database = ZoneDatabase(version: "test")
    for (name, file) in [
      ("UTC", "UTC"), ("Asia/Tokyo", "Asia/Tokyo"),
      ("America/New_York", newYorkIsTokyo ? "Asia/Tokyo" : "America/New_York"),
    ] {
      database.add(name: name, history: database.add(Self.zone(file)))
    }
    zones.publish(database, nowSeconds: 1_700_000_000)
  }

  private static func zone(_ name: String) -> ZoneHistory {
    let bytes = file("/usr/share/zoneinfo/\(name)")
    do { return try TZif.parse(bytes) } catch { fatalError("\(name): \(error)") }
  }

  private static func file(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { fatalError("\(path) is not there") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    return bytes
  }

  /// The built-in policy, but for one transactional notification a user and day.
  static func cappedPolicy() -> Policy {
    let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let text = String(decoding: file("/\(folder)/deploy/policy.json"), as: UTF8.self)
    let mark = #""caps": []"#
    // The first category of the file.
    let before = text.prefix(text.count - text.text(after: mark).count - mark.count)
    let capped =
      before + #""caps": [{"name":"daily","count":1,"style":"calendar_day"}]"#
      + text.text(after: mark)
    return Array(capped.utf8).withUnsafeBytes { bytes in
      do { return try Policy(json: bytes) } catch { fatalError("\(error)") }
    }
  }

  // MARK: Preferences

  static func document(
    _ user: String, version: Int = 1, window: String = #"{"start":"22:00","end":"22:31"}"#,
    zone: String = "UTC", platform: String = "ios", state: String = "default", device: String = "d"
  ) -> String {
    #"{"user_id":"\#(user)","version":\#(version),"account":{"categories":{"transactional":"#
      + #"{"state":"\#(state)"}},"quiet_hours":\#(window),"timezone":"\#(zone)"},"#
      + #""devices":[{"device_id":"\#(device)","platform":"\#(platform)","os_permission":"granted","#
      + #""token_status":"active","region":"US"}]}"#
  }

  /// Of the next record of the preference topic.
  var preferenceOffset: Int64 = 0

  /// As the preference thread does it; nil erases. Returns what it switches off, which was written at
  /// that instant.
  @discardableResult
  func prefer(
    _ document: String?, user: String? = nil, partition: Int32 = 0, isNoted: Bool = true,
    committedAtMs: Int64 = 0
  ) -> OptOut {
    let offset = preferenceOffset
    preferenceOffset += 1
    let user = user ?? Self.user(of: document!)
    return Array(user.utf8).withUnsafeBytes { key in
      if let document {
        Array(document.utf8).withUnsafeBytes {
          let applied = preferences.apply(key: key, value: $0, offset: offset)
          if case .unreadable = applied { fatalError("\(document): \(applied)") }
        }
      } else {
        _ = preferences.apply(key: key, value: nil, offset: offset)
      }
      let optOut = OptOut(
        partition: partition, user: preferences.userHash(key), categories: preferences.optOuts,
        committedAtMs: committedAtMs, offset: offset)
      guard isNoted else { return optOut }
      changes.note(PreferenceChanges.Change(partition: partition, user: optOut.user))
      if !optOut.categories.isEmpty { optOuts.note(optOut) }
      return optOut
    }
  }

  // MARK: Running

  @discardableResult
  func run() -> LaneEnd {
    source.onPoll = { [self] poll in
      onPoll(poll)
      readiness.setFresh(atMs: clock.nowMs)
      if isOver() || poll >= pollsMax { control.ask(.drain) }
    }
    let partitionCount = Int32(cluster.partitions.count)
    let state = LaneState(
      policy: policy, partitionCount: partitionCount, hashKey: (3, 4))
    let holds = LaneHolds(
      policy: policy, preferences: preferences, zones: zones, state: state,
      settings: LaneHolds.Settings(
        spread: HoldSpread(spreadMs: spreadMs), payloadBytesMax: payloadBytesMax,
        apnsPerSecond: perSecond, fcmPerSecond: perSecond, partitionCount: partitionCount),
      source: topic, changes: changes, monotonicMs: clock.nowMs)
    let engine = Engine(
      lane: .ordinary, policy: policy, preferences: preferences, zones: zones,
      partitionCount: 0, state: state, holds: holds)
    let loop = GateLoop(
      source: source, sink: sink, clock: clock, decider: engine, state: state,
      stateSource: states, holds: holds,
      leaks: LeakMeter(
        notes: optOuts, objectiveMs: objectiveMs, approvalsMax: approvalsMax),
      settings: LoopSettings(
        commitIntervalMs: commitIntervalMs, transactionTimeoutMs: 2000, staleMsMax: 300_000),
      counters: counters, control: control, readiness: readiness, epochs: epochs,
      onEvent: { [self] in events.append($0) })
    return loop.run()
  }

  /// Runs until so many notifications have ended.
  @discardableResult
  func run(untilEnded count: Int) -> LaneEnd {
    isOver = { [cluster] in cluster.ended.count >= count }
    return run()
  }
}

/// The deferred topic of the fake cluster, where payloads are read again.
final class FakeHoldsTopic: HoldPayloadSource {
  private let cluster: FakeCluster
  private(set) var reads = 0
  private(set) var keysRead = 0
  var failures = 0

  init(_ cluster: FakeCluster) { self.cluster = cluster }

  func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure) {
    reads += 1
    if failures > 0 {
      failures -= 1
      throw Failure(.retriable, "the deferred topic does not answer")
    }
    for (index, offset) in offsets.enumerated() {
      cluster.deferred[partition]![Int(offset / 2)].withBytes { _, value, headers in
        guard let value else { return }
        body(index, HoldPayload(value: value, headers: headers))
      }
    }
  }

  /// Entry i of a partition has offset 2i + 1.
  func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64 {
    let entries = cluster.deferred[partition] ?? []
    let from = Int(offset / 2)
    for i in from..<min(entries.count, from + 100) {
      keysRead += 1
      entries[i].withBytes { key, value, _ in if value != nil { body(Int64(i) * 2 + 1, key) } }
    }
    return Int64(min(entries.count, from + 100)) * 2
  }
}

// MARK: The oracle

extension FakeCluster {
  /// A cluster with these candidates, each at the next offset of its partition.
  static func holding(_ candidates: [(Int32, String)], partitions: Int32) -> FakeCluster {
    let counts = Dictionary(grouping: candidates, by: \.0).mapValues(\.count)
    let cluster = FakeCluster(
      partitions: partitions, recordsEach: max(1, counts.values.max() ?? 1))
    var next: [Int32: Int] = [:]
    for (partition, candidate) in candidates {
      let at = next[partition, default: 0]
      next[partition] = at + 1
      let user = candidate.text(after: #""user_id":""#).prefix { $0 != "\"" }
      cluster.contents[Decision(partition: partition, offset: cluster.log[partition]![at])] =
        Content(key: leaked(String(user)), value: leaked(candidate))
    }
    return cluster
  }

  /// Never freed: records of all tests borrow them.
  private static func leaked(_ text: String) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    copy.copyBytes(from: text.utf8)
    return UnsafeRawBufferPointer(copy)
  }

  static func candidate(_ id: String, _ user: String, _ more: String = "") -> String {
    #"{"notification_id":"\#(id)","user_id":"\#(user)","device_id":"d","#
      + #""category":"transactional"\#(more)}"#
  }

  /// What ended, by notification: approved or dropped, in whatever way.
  var ended: [String: [Output]] {
    Dictionary(grouping: outputs.filter { $0.outcome != .deferred && $0.notificationID != "" }) {
      $0.notificationID
    }
  }

  /// The notifications that are held by what the topic says now.
  var held: [String] {
    var newest: [[UInt8]: StateEntry] = [:]
    for entry in deferred.values.joined() { newest[entry.key] = entry }
    return newest.values.filter { $0.value != nil }.map { $0.key.split(separator: 0) }
      .filter { $0.count == 3 }.map { String(decoding: $0[1], as: UTF8.self) }.sorted()
  }

  /// What is wrong: a notification that was committed past and neither ended nor is held, or both, or
  /// ended twice; one that was released before its window's end.
  func holdViolations(erased: Set<String> = [], allowDoubles: Bool = false) -> [String] {
    var found: [String] = []
    let held = held
    let ended = ended
    for (decision, content) in contents {
      let id = String(
        String(decoding: content.value, as: UTF8.self).text(after: #""notification_id":""#)
          .prefix { $0 != "\"" })
      let isPast = decision.offset < committed[decision.partition] ?? 0
      let ends = ended[id]?.count ?? 0
      let holds = held.filter { $0 == id }.count
      let wanted = isPast && !erased.contains(id) ? 1 : 0
      let isRight = allowDoubles && wanted == 1 ? ends + holds >= 1 : ends + holds == wanted
      if !isRight { found.append("\(id) ended \(ends) times and is held \(holds) times") }
    }
    for output in outputs where output.reason == .released {
      let text = String(decoding: output.value, as: UTF8.self)
      let decidedAt = text.text(after: #""decided_at":""#).prefix(24)
      if text.text(after: #""held":"#).isEmpty { found.append("no held in \(text)") }
      if decidedAt < "2023-11-14T22:31:00.000Z" { found.append("released early: \(text)") }
    }
    return found.sorted()
  }

  func reasons(_ id: String) -> [Reason] { (ended[id] ?? []).map(\.reason) }
}

extension String {
  /// What comes behind the first occurrence; empty where there is none.
  func text(after mark: String) -> Substring {
    var at = startIndex
    while at < endIndex {
      if self[at...].hasPrefix(mark) { return self[index(at, offsetBy: mark.count)...] }
      at = index(after: at)
    }
    return ""
  }
}

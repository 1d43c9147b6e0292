import Gate

/// A hold of a store: good until the transaction that ends it is committed.
public struct HoldSlot: Hashable, Sendable {
  let number: UInt32
}

/// The holds of one owned partition: who they are, when each is due, and what it carries. No I/O, no
/// clock. What the open transaction does to them is undone by `abort` and kept by `commit`, so that
/// memory says what the topics say (architecture, "Exactly once").
///
/// Due times are instants of the wall clock, compared with whatever that says now: after a suspended
/// machine or a stepped clock everything overdue is due at once, in its order.
///
/// At most 64 bytes a hold, all tables included, payloads apart: 40 of `HoldEntry`, 8 of `DueHeap`,
/// and 4.4 to 4.9 in `SlotTable` for each of the hold, its user's first, and its collapse key.
public final class HoldStore {
  public struct Settings: Sendable {
    public var spread: HoldSpread
    /// Compressed bytes kept in memory; what is over is read again from the topic.
    public var payloadBytesMax: Int

    public init(spread: HoldSpread, payloadBytesMax: Int) {
      self.spread = spread
      self.payloadBytesMax = payloadBytesMax
    }
  }

  /// More of them a partition does not take.
  public static let holdsMax = HoldEntries.slotsMax - 1

  public let partition: Int32
  let settings: Settings
  let entries = HoldEntries()
  var table = SlotTable()
  /// By provider: a bucket that is empty does not keep the other's holds waiting.
  var apns = DueHeap()
  var fcm = DueHeap()
  var waiting = (apns: 0, fcm: 0)
  let payloads: PayloadBlocks
  var journal: [Step] = []
  /// What due times are counted from: 26 years fit after it, and 8 before the clock at the start.
  let baseMs: Int64

  /// What the open transaction has done, in order.
  enum Step {
    case added(UInt32)
    case taken(UInt32)
    case ended(UInt32, before: HoldEntry.State)
  }

  /// - Parameter nowMs: any instant near now, milliseconds since the epoch.
  public init(partition: Int32, settings: Settings, nowMs: Int64) {
    self.partition = partition
    self.settings = settings
    payloads = PayloadBlocks(bytesMax: settings.payloadBytesMax)
    // A machine whose clock is not set yet says 1970.
    let year2026: Int64 = 1_767_225_600_000
    baseMs = max(nowMs, year2026) - 1 << 38
  }

  /// Holds that are not ended, those of the open transaction included.
  public var count: Int { entries.count }
  public var isFull: Bool { entries.isFull }

  public var indexBytes: Int {
    entries.memoryBytes + table.memoryBytes + apns.memoryBytes + fcm.memoryBytes
  }
  /// Payloads in memory, compressed.
  public var payloadBytes: Int { payloads.memoryBytes }

  // MARK: Putting

  /// One record of the partition as it is read back at an assignment, in offset order: the newest of a
  /// key takes the place of an older one.
  @discardableResult
  public func restore(
    _ facts: HoldFacts, _ payload: HoldPayload, offset: Int64, nowMs: Int64
  ) -> HoldSlot {
    precondition(journal.isEmpty, "a restore is no part of a transaction")
    if let older = find(facts.identity) { remove(older.number) }
    let slot = insert(facts, payload, offset: offset, nowMs: nowMs, state: .waiting)
    push(slot)
    return HoldSlot(number: slot)
  }

  /// A null value, as it is read back.
  public func restoreRelease(of identity: HoldIdentity) {
    precondition(journal.isEmpty, "a restore is no part of a transaction")
    if let slot = find(identity) { remove(slot.number) }
  }

  /// A hold written in the open transaction. One that is held on ends first and is then added.
  /// - Parameter offset: nil where the topic has not told it yet; then `noteOffset` does.
  @discardableResult
  public func add(
    _ facts: HoldFacts, _ payload: HoldPayload, offset: Int64? = nil, nowMs: Int64
  ) -> HoldSlot {
    precondition(find(facts.identity) == nil, "a hold is there under this key: end it first")
    let slot = insert(facts, payload, offset: offset, nowMs: nowMs, state: .added)
    journal.append(.added(slot))
    return HoldSlot(number: slot)
  }

  private func insert(
    _ facts: HoldFacts, _ payload: HoldPayload, offset: Int64?, nowMs: Int64,
    state: HoldEntry.State
  ) -> UInt32 {
    var entry = HoldEntry(
      facts.identity, collapse: facts.collapse, provider: facts.provider, state: state)
    (entry.due, entry.isFree) = due(facts, nowMs)
    if let offset { entry.offset = offset }
    entry.location = payloads.append(payload, offsetKnown: offset != nil)
    let slot = entries.insert(entry)
    if state == .waiting { countWaiting(facts.provider, 1) }
    link(slot)
    return slot
  }

  /// The hold's own record in the topic, once that has told. The newest of its key counts.
  public func noteOffset(_ offset: Int64, of slot: HoldSlot) {
    let before = entries[slot.number].offset
    guard before == HoldEntry.offsetUnknown || before < offset else { return }
    entries[slot.number].offset = offset
    if before == HoldEntry.offsetUnknown {
      payloads.offsetBecameKnown(entries[slot.number].location)
    }
  }

  /// Payloads take more memory than they may, and cannot go before it is known where on the topic they
  /// are.
  var wantsOffsets: Bool { payloads.isStuck }

  // MARK: Due times

  /// Where a window holds it: its end, and the user's place in the spread. Else what was due is due
  /// still, and what a changed zone or window has set free leaves now: one user is no herd.
  private func due(_ facts: HoldFacts, _ nowMs: Int64) -> (due: UInt64, isFree: Bool) {
    #if PlantedBugs
      let tooEarlyMs: Int64 = PlantedBug.is(.earlyRelease) ? 600_000 : 0
      let until = (facts.heldUntilMs ?? facts.deliverAfterMs) - tooEarlyMs
    #else
      let until = facts.heldUntilMs ?? facts.deliverAfterMs
    #endif
    let isFree = facts.heldUntilMs == nil
    // A changed window would keep it past its expiry: decided again now it is dropped, and says so
    // (requirements F3). Nobody is to wait for what is lost already.
    if !isFree, let expiresAtMs = facts.expiresAtMs, expiresAtMs <= until {
      return (relative(nowMs), isFree)
    }
    let spread = settings.spread.dueMs(
      place: facts.spread, notBeforeMs: until, expiresAtMs: facts.expiresAtMs)
    return (relative(isFree && until > nowMs ? nowMs : spread), isFree)
  }

  func relative(_ ms: Int64) -> UInt64 {
    UInt64(min(max(0, ms - baseMs), Int64(HoldEntry.dueMax)))
  }

  /// The preferences of its user, or the zones, have changed: `facts` are the hold's as of now.
  public func reschedule(_ slot: HoldSlot, _ facts: HoldFacts, nowMs: Int64) {
    setProvider(slot.number, facts.provider)
    let (due, isFree) = due(facts, nowMs)
    // Free already: it keeps its place, or each change would send it back behind the others.
    if isFree && entries[slot.number].isFree { return }
    entries[slot.number].isFree = isFree
    guard entries[slot.number].due != due else { return }
    entries[slot.number].due = due
    // In a transaction it goes back to the heap, if it does, by its new due.
    if entries[slot.number].state == .waiting { push(slot.number) }
  }

  /// Some holds in the order of their slots, from one on, and where the next begin; none: that is all.
  func slots(from first: UInt32, limit: Int) -> (slots: [HoldSlot], next: UInt32) {
    var slots: [HoldSlot] = []
    var slot = first
    while slots.count < limit, entries.has(slot) {
      if entries[slot].state != .ended { slots.append(HoldSlot(number: slot)) }
      slot += 1
    }
    return (slots, slot)
  }

  /// Whose tokens it takes.
  func provider(of slot: HoldSlot) -> Provider { entries[slot.number].provider }

  public func dueMs(of slot: HoldSlot) -> Int64 {
    baseMs + Int64(entries[slot.number].due)
  }

  // MARK: Looking up

  /// Nil where there is none, or the open transaction has ended it.
  public func find(_ identity: HoldIdentity) -> HoldSlot? {
    let hash = SlotTable.hash(.hold, user: identity.user, hold: identity.hold, collapse: 0)
    return table.find(.hold, hash: hash) {
      entries[$0].hold == identity.hold && entries[$0].user == identity.user
        && entries[$0].state != .ended
    }.map { HoldSlot(number: $0) }
  }

  /// The hold that a newer notification of the same user, device and collapse key ends. Nil where
  /// there is none, or it is ended in the open transaction. 96 bits of hash agree;
  /// `Releaser.supersede` compares the bytes.
  public func find(user: UInt64, collapse: UInt32) -> HoldSlot? {
    let hash = SlotTable.hash(.collapse, user: user, hold: 0, collapse: collapse)
    return table.find(.collapse, hash: hash) {
      let entry = entries[$0]
      return entry.user == user && entry.collapse == collapse && entry.state != .ended
    }.map { HoldSlot(number: $0) }
  }

  /// Whether there are holds of the user, those that the open transaction has ended included.
  public func hasHolds(of user: UInt64) -> Bool { newest(of: user) != nil }

  /// The user's holds, oldest first. The closure may reschedule and end them.
  public func forEachHold(of user: UInt64, _ body: (HoldSlot) -> Void) {
    guard let newest = newest(of: user) else { return }
    var slot = entries[newest].next
    while true {
      let next = entries[slot].next
      if entries[slot].state != .ended { body(HoldSlot(number: slot)) }
      if slot == newest { return }
      slot = next
    }
  }
}

import Gate
import Testing

@testable import Pipeline

@Suite struct HoldStoreTests {
  let now = HoldStore.testNowMs

  /// What a partition says, read back in offset order: the newest of a key counts.
  @Test func restore() throws {
    let store = HoldStore.make()
    let first = TestHold(user: 1, id: 1, untilMs: now + 1000)
    var heldOn = first
    heldOn.untilMs = now + 5000
    heldOn.text = "held on"
    store.restore(first, offset: 0)
    store.restore(TestHold(user: 1, id: 2, untilMs: now + 2000), offset: 1)
    store.restore(heldOn, offset: 2)
    store.restoreRelease(of: HoldIdentity(user: 1, hold: 2))
    store.restoreRelease(of: HoldIdentity(user: 9, hold: 9))
    #expect(store.count == 1)
    #expect(store.nextDueMs(.apns) == now + 5000)
    #expect(try store.texts(store.take(at: now + 5000)) == ["held on"])
  }

  /// C065: after a night that the machine slept through, and after a clock that was set forward or
  /// back, all that is overdue is due, in its order.
  @Test func clockSteps() throws {
    let store = HoldStore.make()
    for (id, due) in [(1, 3000), (2, 1000), (3, 2000)] {
      store.restore(TestHold(user: UInt64(id), id: UInt64(id), untilMs: now + Int64(due)))
    }
    #expect(store.take(at: now + 999).isEmpty)
    // Set back by an hour, as if the night were longer; then on by nine.
    #expect(store.take(at: now - 3_600_000).isEmpty)
    #expect(
      try store.texts(store.take(at: now + 32_400_000))
        == ["hold 2 of user 2", "hold 3 of user 3", "hold 1 of user 1"])
  }

  /// A machine whose clock is not set yet must not take every hold for due.
  @Test func startedIn1970() {
    let store = HoldStore.make(nowMs: 0)
    store.restore(TestHold(user: 1, id: 1, untilMs: now + 1000), nowMs: 0)
    #expect(store.nextDueMs(.apns) == now + 1000)
    #expect(store.take(at: 1000).isEmpty)
    #expect(store.take(at: now + 1000).count == 1)
  }

  /// C053: a changed zone moves the due time at once, either way.
  @Test func moved() {
    let store = HoldStore.make(spreadMs: 60_000)
    var hold = TestHold(user: 1, id: 1, untilMs: now + 3_600_000)
    hold.spread = UInt32.max / 2
    store.restore(hold)
    let slot = store.find(hold.identity)!
    #expect(store.dueMs(of: slot) == now + 3_600_000 + 29_999)
    var facts = hold.facts
    facts.heldUntilMs = now + 7_200_000
    store.reschedule(slot, facts, nowMs: now)
    #expect(store.nextDueMs(.apns) == now + 7_200_000 + 29_999)
    // Landed where it is day: now, with no spread.
    facts.heldUntilMs = nil
    store.reschedule(slot, facts, nowMs: now + 10)
    #expect(store.nextDueMs(.apns) == now + 10)
    // Another look at the same keeps its place.
    store.reschedule(slot, facts, nowMs: now + 20)
    #expect(store.nextDueMs(.apns) == now + 10)
    #expect(store.take(at: now + 10).count == 1)
  }

  /// F3: moved to where it would expire before it could leave, it is looked at now, not then.
  @Test(arguments: [-1, 0, 1] as [Int64])
  func movedPastItsExpiry(expiresAfterEndMs: Int64) {
    let store = HoldStore.make(spreadMs: 0)
    var hold = TestHold(user: 1, id: 1, untilMs: now + 1000)
    let laterMs = now + 60_000
    hold.expiresAtMs = laterMs + expiresAfterEndMs
    store.restore(hold)
    let slot = store.find(hold.identity)!
    #expect(store.dueMs(of: slot) == now + 1000)
    var facts = hold.facts
    facts.heldUntilMs = laterMs
    store.reschedule(slot, facts, nowMs: now + 10)
    #expect(store.nextDueMs(.apns) == (expiresAfterEndMs > 0 ? laterMs : now + 10))
  }

  /// What was due while the gate was down keeps its spread, so that a restart is no herd either.
  @Test func overdueAtRestore() {
    let store = HoldStore.make(spreadMs: 60_000)
    var hold = TestHold(user: 1, id: 1, untilMs: now - 1000)
    hold.spread = UInt32.max
    var facts = hold.facts
    facts.heldUntilMs = nil
    withPayload("x") { _ = store.restore(facts, $0, offset: 0, nowMs: now) }
    #expect(store.nextDueMs(.apns) == now - 1000 + 59_999)
  }

  /// A user's holds that end together leave in the order they came, wherever memory put them.
  @Test func orderOfAUser() throws {
    let store = HoldStore.make()
    // Slots that were freed are used again last first.
    for id in UInt64(1)...50 { store.restore(TestHold(user: id, id: id, untilMs: now)) }
    for slot in store.take(at: now) { store.end(slot) }
    store.commit()
    for id in UInt64(100)..<150 { store.add(TestHold(user: 7, id: id, untilMs: now + 1)) }
    store.commit()
    var left: [String] = []
    while case let slots = store.take(at: now + 1, max: 7), !slots.isEmpty {
      left += try store.texts(slots)
      for slot in slots { store.end(slot) }
      store.commit()
    }
    #expect(left == (100..<150).map { "hold \($0) of user 7" })
  }

  /// A held-on hold ends and is added in one transaction, under one key.
  @Test func heldOn() {
    let store = HoldStore.make()
    let hold = TestHold(user: 1, id: 1, untilMs: now)
    store.restore(hold)
    for undo in [true, false] {
      store.end(store.take(at: now)[0])
      #expect(store.find(hold.identity) == nil)
      var again = hold
      again.untilMs = now + 1000
      store.add(again)
      #expect(store.find(hold.identity) != nil)
      if undo { store.abort() } else { store.commit() }
      #expect(store.count == 1)
      #expect(store.nextDueMs(.apns) == (undo ? now : now + 1000))
    }
  }

  /// A hold of the open transaction can be superseded in it.
  @Test func supersededInItsOwnTransaction() {
    let store = HoldStore.make()
    var older = TestHold(user: 1, id: 1, untilMs: now)
    older.collapse = 5
    let slot = store.add(older)
    #expect(store.find(user: 1, collapse: 5) == slot)
    #expect(store.find(user: 2, collapse: 5) == nil)
    store.end(slot)
    #expect(store.find(user: 1, collapse: 5) == nil)
    store.commit()
    #expect(store.count == 0)
    #expect(store.take(at: now).isEmpty)
  }

  /// Moves and removals leave nothing behind that grows.
  @Test func staleItemsAreClearedAway() {
    let store = HoldStore.make()
    let hold = TestHold(user: 1, id: 1, untilMs: now)
    for id in UInt64(1)...100 { store.restore(TestHold(user: id, id: id, untilMs: now + 10)) }
    let slot = store.find(hold.identity)!
    for i in 0..<100_000 {
      var facts = hold.facts
      facts.heldUntilMs = now + Int64(i)
      store.reschedule(slot, facts, nowMs: now)
    }
    #expect(store.apns.count < 256)
    #expect(store.take(at: now + 100_000).count == 100)
  }

  // MARK: Payloads

  @Test func payloadsOverTheLimitAreReadAgainInOffsetOrder() throws {
    let store = HoldStore.make(payloadBytesMax: 2 * PayloadBlocks.blockBytes)
    let topic = FakeTopic()
    var random = Xorshift(seed: 5)
    for id in 0..<4_000 {
      // Not compressible, so that the limit is met.
      var hold = TestHold(
        user: UInt64(id), id: UInt64(id), untilMs: now + Int64.random(in: 0...9, using: &random))
      hold.text = "\(id) " + (0..<6).map { _ in String(random.next(), radix: 36) }.joined()
      topic.records[Int64(id * 2)] = hold.text
      store.restore(hold, offset: Int64(id * 2))
    }
    #expect(store.payloadBytes <= 3 * PayloadBlocks.blockBytes)
    let slots = store.take(at: now + 9)
    let texts = try store.texts(slots, from: topic)
    #expect(texts.count == 4_000)
    #expect(Set(texts) == Set(topic.records.values))
    let reads = try #require(topic.reads.first)
    #expect(topic.reads.count == 1 && reads == reads.sorted() && reads.count > 1_000)
    // In due order, although they were read in another.
    let dues = slots.map { store.dueMs(of: $0) }
    #expect(dues == dues.sorted())
    for (slot, text) in zip(slots, texts) {
      #expect(topic.records[store.entries[slot.number].offset] == text)
    }
    topic.records[reads[0]] = nil
    #expect(throws: Failure.self) { try store.texts(slots, from: topic) }
  }

  /// What the topic has not told the place of stays in memory, over the limit or not.
  @Test func unknownOffsetsStay() throws {
    let store = HoldStore.make(payloadBytesMax: PayloadBlocks.blockBytes)
    var random = Xorshift(seed: 6)
    var holds: [TestHold] = []
    for id in 0..<2_000 {
      var hold = TestHold(user: UInt64(id), id: UInt64(id), untilMs: now)
      hold.text = (0..<20).map { _ in String(random.next(), radix: 36) }.joined()
      holds.append(hold)
      store.add(hold)
    }
    store.commit()
    let topic = FakeTopic()
    _ = try store.texts(store.take(at: now), from: topic)
    #expect(topic.reads.isEmpty)
    store.abort()
    for (id, hold) in holds.enumerated() {
      topic.records[Int64(id)] = hold.text
      store.noteOffset(Int64(id), of: store.find(hold.identity)!)
    }
    for id in 2_000..<4_000 {
      var hold = TestHold(user: UInt64(id), id: UInt64(id), untilMs: now + 1)
      hold.text = (0..<20).map { _ in String(random.next(), radix: 36) }.joined()
      topic.records[Int64(id)] = hold.text
      store.restore(hold, offset: Int64(id))
    }
    #expect(store.payloadBytes <= 2 * PayloadBlocks.blockBytes)
    #expect(try Set(store.texts(store.take(at: now), from: topic)) == Set(holds.map(\.text)))
    #expect(topic.reads.count == 1)
  }

  @Test func aPayloadLargerThanABlock() throws {
    let store = HoldStore.make()
    var large = TestHold(user: 1, id: 1, untilMs: now)
    large.text = String(repeating: "0123456789", count: 9_000)
    store.restore(large)
    store.restore(TestHold(user: 2, id: 2, untilMs: now + 1))
    let slots = store.take(at: now + 1)
    #expect(try store.texts(slots) == [large.text, "hold 2 of user 2"])
    for slot in slots { store.end(slot) }
    store.commit()
    #expect(store.payloadBytes == PayloadBlocks.blockBytes)
  }

  @Test func headersComeBack() throws {
    let store = HoldStore.make()
    let hold = TestHold(user: 1, id: 1, untilMs: now)
    withPayload("value", headers: "trace") {
      _ = store.restore(hold.facts, $0, offset: 0, nowMs: now)
    }
    let batch = HoldPayloadBatch()
    try store.read(store.take(at: now), from: FakeTopic(), into: batch)
    #expect(batch[0].map { String(decoding: $0.headers, as: UTF8.self) } == "trace")
    #expect(batch[0].map { String(decoding: $0.value, as: UTF8.self) } == "value")
  }

  @Test func anEntryIsFortyBytes() {
    #expect(MemoryLayout<HoldEntry>.stride == 40)
    var entry = HoldEntry(
      HoldIdentity(user: .max, hold: 1), collapse: 7, provider: .fcm, state: .taken)
    entry.due = HoldEntry.dueMax
    entry.offset = 0x12_3456_789A
    entry.location = PayloadBlocks.Location(block: 0xABCDEF, position: 0xFEDC)
    entry.isFree = true
    #expect(entry.due == HoldEntry.dueMax && entry.offset == 0x12_3456_789A)
    #expect(entry.location == PayloadBlocks.Location(block: 0xABCDEF, position: 0xFEDC))
    #expect(entry.state == .taken && entry.provider == .fcm && entry.isFree && entry.hasCollapse)
    entry.due = 1
    entry.state = .waiting
    entry.isFree = false
    #expect(entry.offset == 0x12_3456_789A && entry.due == 1 && entry.state == .waiting)
    #expect(entry.location.block == 0xABCDEF && entry.provider == .fcm)
  }
}

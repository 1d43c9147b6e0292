import Gate
import Testing

@testable import Pipeline

/// A store held against a plain list, through random transactions: what is there, when it is due, in
/// which order it leaves, what an abort brings back.
@Suite struct HoldStoreModelTests {
  /// One hold in the model; its position in the list is the order it was held in.
  struct Held: Equatable {
    var hold: TestHoldKey
    var provider: Provider
    var collapse: UInt32?
    var dueMs: Int64
    var text: String
    var isTaken = false
  }
  typealias TestHoldKey = HoldIdentity

  struct Model {
    var held: [Held] = []
    var before: [Held] = []

    func isWaiting(_ held: Held, _ provider: Provider, _ nowMs: Int64) -> Bool {
      !held.isTaken && held.provider == provider && held.dueMs <= nowMs
    }
  }

  @Test(arguments: UInt64(1)...40) func againstAList(seed: UInt64) throws {
    var random = Xorshift(seed: seed)
    let store = HoldStore.make()
    var model = Model()
    var uncommitted: Set<HoldIdentity> = []
    var nowMs = HoldStore.testNowMs
    var nextID: UInt64 = 1

    for step in 0..<600 {
      let what = Int.random(in: 0..<100, using: &random)
      if what < 45 {
        // Few users and few dues, so that they share both.
        var hold = TestHold(
          user: UInt64.random(in: 1...6, using: &random), id: nextID,
          untilMs: nowMs + Int64.random(in: 1...4, using: &random) * 1000,
          provider: Bool.random(using: &random) ? .apns : .fcm)
        nextID += 1
        if Int.random(in: 0..<3, using: &random) == 0 {
          hold.collapse = UInt32.random(in: 1...3, using: &random)
        }
        // As the loop does: the older of two ends first.
        if let collapse = hold.collapse {
          let older = store.find(user: hold.identity.user, collapse: collapse)
          let wanted = model.held.firstIndex {
            $0.collapse == collapse && $0.hold.user == hold.identity.user
          }
          #expect((older == nil) == (wanted == nil), "seed \(seed) step \(step)")
          if let older, let wanted {
            #expect(store.find(model.held[wanted].hold) == older)
            store.end(older)
            model.held.remove(at: wanted)
          }
        }
        store.add(hold, nowMs: nowMs)
        uncommitted.insert(hold.identity)
        model.held.append(
          Held(
            hold: hold.identity, provider: hold.provider, collapse: hold.collapse,
            dueMs: hold.untilMs, text: hold.text))
      } else if what < 60 {
        let provider: Provider = Bool.random(using: &random) ? .apns : .fcm
        let most = Int.random(in: 1...8, using: &random)
        let taken = store.take(provider, at: nowMs, max: most)
        let due = model.held.indices
          .filter {
            model.isWaiting(model.held[$0], provider, nowMs)
              && !uncommitted.contains(model.held[$0].hold)
          }
        // Stable: of equals the one held first.
        let order = due.enumerated().sorted {
          (model.held[$0.element].dueMs, $0.offset) < (model.held[$1.element].dueMs, $1.offset)
        }.map(\.element)
        try #require(taken.count == min(most, order.count), "seed \(seed) step \(step)")
        #expect(
          taken.map { store.dueMs(of: $0) } == order.prefix(most).map { model.held[$0].dueMs })
        let texts = try store.texts(taken)
        // Among different users that are due together there is no order to keep.
        for user in UInt64(1)...6 {
          let wanted = order.filter { model.held[$0].hold.user == user }.map { model.held[$0].text }
          let got = texts.filter { $0.hasSuffix("user \(user)") }
          #expect(got == Array(wanted.prefix(got.count)), "seed \(seed) step \(step)")
        }
        for (slot, text) in zip(taken, texts) {
          let at = model.held.firstIndex { $0.text == text }!
          if Bool.random(using: &random) {
            store.end(slot)
            model.held.remove(at: at)
          } else {
            model.held[at].isTaken = true
          }
        }
      } else if what < 70, let held = model.held.randomElement(using: &random) {
        let slot = try #require(store.find(held.hold))
        store.end(slot)
        model.held.removeAll { $0.hold == held.hold }
      } else if what < 80 {
        // A user's window has changed: what of it waits is due at another time.
        let user = UInt64.random(in: 1...6, using: &random)
        let laterMs = nowMs + Int64.random(in: 0...5, using: &random) * 1000
        var seen: [HoldIdentity] = []
        store.forEachHold(of: user) { slot in
          let entry = store.entries[slot.number]
          let identity = HoldIdentity(user: entry.user, hold: entry.hold)
          seen.append(identity)
          var facts = TestHold(user: user, id: entry.hold, untilMs: laterMs).facts
          facts.provider = entry.provider
          store.reschedule(slot, facts, nowMs: nowMs)
        }
        #expect(seen == model.held.filter { $0.hold.user == user }.map(\.hold), "seed \(seed)")
        for i in model.held.indices where model.held[i].hold.user == user {
          model.held[i].dueMs = laterMs
          if let at = model.before.firstIndex(where: { $0.hold == model.held[i].hold }) {
            model.before[at].dueMs = laterMs
          }
        }
      } else if what < 92 {
        nowMs += Int64.random(in: -500...1500, using: &random)
      } else {
        if what < 97 {
          store.commit()
          for i in model.held.indices { model.held[i].isTaken = false }
          model.before = model.held
        } else {
          store.abort()
          model.held = model.before
        }
        uncommitted = []
        for provider in Provider.allCases {
          let due = model.held.filter { $0.provider == provider }.map(\.dueMs)
          #expect(store.nextDueMs(provider) == due.min(), "seed \(seed) step \(step)")
          let overdue = due.filter { $0 <= nowMs }.count
          #expect(store.overdue(provider, nowMs: nowMs, limit: 1000) == overdue)
          #expect(store.overdue(provider, nowMs: nowMs, limit: 2) == min(2, overdue))
        }
        #expect(store.count == model.held.count, "seed \(seed) step \(step)")
      }
      for held in model.held { #expect(store.find(held.hold) != nil) }
    }
    store.commit()
    for held in model.held { store.end(store.find(held.hold)!) }
    store.commit()
    #expect(store.count == 0)
    #expect(store.entries.memoryBytes == 0)
    #expect(store.payloadBytes == PayloadBlocks.blockBytes)
  }
}

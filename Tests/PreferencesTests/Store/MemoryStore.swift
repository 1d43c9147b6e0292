import Gate

@testable import Preferences

/// What the store has to keep, kept in dictionaries: follows the machine's answers by their
/// description, without tables.
struct MemoryStore {
  let machine: PreferenceMachine
  var users: [Identifier: UserPreferences] = [:]
  var devices: [Identifier: SharedDevice] = [:]
  var erasedAtMs: [Identifier: Int64] = [:]
  var audit: [Identifier: [AuditRow]] = [:]
  var answers: [Identifier: [Identifier: EventAnswer]] = [:]
  /// Topic, key and value of what is to be published, but the audit's.
  var published: [String] = []

  init(_ machine: PreferenceMachine) { self.machine = machine }

  mutating func apply(_ event: PreferenceEvent, nowMs: Int64) -> EventAnswer {
    let id = event.userID
    if var answer = answers[id]?[event.eventID] {
      answer.isRepeat = true
      return answer
    }
    var known = KnownState(user: users[id], userErasedAtMs: erasedAtMs[id])
    known.device = event.deviceID.flatMap { devices[$0] }
    if let holder = known.device?.holder, holder != id { known.holder = users[holder] }
    let transition = machine.apply(event, to: known, nowMs: nowMs)

    if let ms = transition.erasedAtMs {
      erasedAtMs[id] = ms
      answers[id] = nil
      audit[id]?.removeAll { transition.isErased || $0.atMs <= ms }
      for device in transition.releasedDevices where devices[device]?.holder == id {
        devices[device]?.holder = nil
      }
      // What waited is not published any more.
      published.removeAll {
        $0.hasPrefix("receipts \(id) ") || $0.hasPrefix("state \(id) ") && !$0.hasSuffix(" nil")
      }
      published.append("state \(id) nil")
    }
    if transition.isErased { users[id] = nil }
    if let user = transition.user { users[id] = user }
    if let holder = transition.holder { users[holder.userID] = holder }
    if let device = transition.device { devices[device.deviceID] = device }
    for row in transition.rows { audit[row.userID!, default: []].append(row) }
    if let text = transition.holderDocument {
      published.append("state \(transition.holder!.userID) \(text)")
    }
    if let text = transition.userDocument { published.append("state \(id) \(text)") }
    if let seen = transition.observed {
      published.append("receipts \(id) \(ReceiptDocument.text(seen))")
    }
    let answer = EventAnswer(
      outcome: transition.outcome,
      refusal: transition.refusal.map { .init(code: $0.code, words: $0.words) },
      version: users[id]?.version ?? 0)
    if users[id] != nil { answers[id, default: [:]][event.eventID] = answer }
    return answer
  }
}

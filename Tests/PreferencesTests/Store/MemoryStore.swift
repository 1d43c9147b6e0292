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
  private var waiting: [(text: String, atMs: Int64)] = []
  /// Topic, key and value of what is to be published, but the audit's.
  var published: [String] { waiting.map(\.text) }

  init(_ machine: PreferenceMachine) { self.machine = machine }

  private mutating func publish(_ text: String, atMs: Int64 = 0) { waiting.append((text, atMs)) }

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
      let throughMs = transition.erasedThroughMs ?? .max
      audit[id]?.removeAll { $0.atMs <= throughMs }
      audit[id] = audit[id]?.map { row in
        var row = row
        row.before = nil
        return row
      }
      // What waited is not published any more, but what was seen afterwards.
      waiting.removeAll {
        $0.text.hasPrefix("receipts \(id) ") && $0.atMs <= throughMs
          || $0.text.hasPrefix("state \(id) ") && !$0.text.hasSuffix(" nil")
      }
      publish("state \(id) nil")
    }
    for device in transition.releasedDevices where devices[device]?.holder == id {
      devices[device]?.holder = nil
    }
    if transition.isErased { users[id] = nil }
    if let user = transition.user { users[id] = user }
    if let holder = transition.holder { users[holder.userID] = holder }
    if let device = transition.device { devices[device.deviceID] = device }
    for row in transition.rows { audit[row.userID!, default: []].append(row) }
    if let text = transition.holderDocument {
      publish("state \(transition.holder!.userID) \(text)")
    }
    if let text = transition.userDocument { publish("state \(id) \(text)") }
    if let seen = transition.observed {
      publish("receipts \(id) \(ReceiptDocument.text(seen))", atMs: seen.atMs)
    }
    let answer = EventAnswer(
      outcome: transition.outcome,
      refusal: transition.refusal.map { .init(code: $0.code, words: $0.words) },
      version: users[id]?.version ?? 0)
    if users[id] != nil { answers[id, default: [:]][event.eventID] = answer }
    return answer
  }
}

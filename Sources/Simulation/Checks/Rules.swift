/// The decision, a second time: decision.md's rows for what the simulation's documents and candidates can
/// say, written from the table and not from the gate's code.
enum Rules {
  struct Verdict: Equatable {
    var outcome: String
    var reason: String
    var deliverAfterMs: Int64?

    static func drop(_ reason: String) -> Verdict { Verdict(outcome: "dropped", reason: reason) }
  }

  struct Question {
    var input: Input
    /// Nil: the document has it no more.
    var device: Document.Device?
    var document: Document
    var nowMs: Int64
    /// Of the first decision, where this is a release.
    var heldSinceMs: Int64?
    var holdMsMax: Int64
    var zonesVersion: Int
    var isDuplicate: Bool
    var isCapped: Bool
  }

  static func judge(_ q: Question) -> Verdict {
    let input = q.input
    if let expires = input.expiresAtMs, expires <= q.nowMs { return .drop("expired") }
    guard let device = q.device else { return .drop("unknown_device") }
    if q.heldSinceMs == nil, q.isDuplicate { return .drop("duplicate") }
    if input.category != "security" {
      if q.document.off.contains(input.category) { return .drop("account_opted_out") }
      if device.off.contains(input.category) { return .drop("device_opted_out") }
    }
    if !device.isGranted { return .drop("os_permission_denied") }
    let end = input.category == "security" ? nil : windowEnd(q.document, q.nowMs, q.zonesVersion)
    let boundMs = (q.heldSinceMs ?? q.nowMs) + q.holdMsMax
    let isBoundOver = q.heldSinceMs != nil && q.nowMs >= boundMs
    if let end, !isBoundOver {
      if input.category != "transactional" { return .drop("quiet_hours_dropped") }
      let deliverAfterMs = min(end, boundMs)
      if let expires = input.expiresAtMs, expires <= deliverAfterMs {
        return .drop("expires_in_quiet_hours")
      }
      return Verdict(
        outcome: "deferred", reason: "quiet_hours_deferred", deliverAfterMs: deliverAfterMs)
    }
    if q.isCapped { return .drop("frequency_capped") }
    let reason =
      q.heldSinceMs != nil
      ? "released" : (isQuiet(q.document, q.nowMs, q.zonesVersion) ? "quiet_hours_bypassed" : "ok")
    return Verdict(outcome: "approved", reason: reason)
  }

  private static let dayMs: Int64 = 86_400_000

  private static func localMs(_ document: Document, _ nowMs: Int64, _ version: Int) -> Int64 {
    nowMs + SimZones.offsetSeconds(document.zone ?? "Sim/Zero", version: version, atMs: nowMs)
      * 1_000
  }

  /// Days since the epoch on the user's wall.
  static func day(_ document: Document, _ nowMs: Int64, _ version: Int) -> Int64 {
    localMs(document, nowMs, version) / dayMs
  }

  static func isQuiet(_ document: Document, _ nowMs: Int64, _ version: Int) -> Bool {
    guard let window = document.window, window.start != window.end else { return false }
    let minute = localMs(document, nowMs, version) % dayMs / 60_000
    return window.start < window.end
      ? window.start <= minute && minute < window.end
      : minute >= window.start || minute < window.end
  }

  /// The first instant after now at which the wall is outside. Nil where it is now. From one instant to the
  /// next at which something changes, the wall's clock or the window.
  static func windowEnd(_ document: Document, _ nowMs: Int64, _ version: Int) -> Int64? {
    guard isQuiet(document, nowMs, version), let window = document.window else { return nil }
    var atMs = nowMs
    while isQuiet(document, atMs, version) {
      let local = localMs(document, atMs, version)
      let midnight = local / dayMs * dayMs
      let today = midnight + window.end * 60_000
      let end = atMs + (today > local ? today : today + dayMs) - local
      let change = SimZones.nextChangeMs(document.zone ?? "Sim/Zero", afterMs: atMs)
      atMs = min(end, change ?? end)
    }
    return atMs
  }
}

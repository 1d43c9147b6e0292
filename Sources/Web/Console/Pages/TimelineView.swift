import Evidence
import Gate
import Preferences

/// What happened to a user or on a device, newest first, with a heading for each day.
struct TimelineView {
  let context: ConsoleContext
  /// The page is not one user's: each decision says whose it is.
  var namesUsers = false
  private var words: ConsoleWords { context.words }

  func html(_ timeline: Timeline) -> HTML {
    guard !timeline.items.isEmpty else {
      return "<p class=\"soft\">\(words[StoryPhrase.timelineEmpty])</p>"
    }
    var days: [(day: String, items: [HTML])] = []
    for item in timeline.items {
      let day = ConsoleContext.day(item.atMs)
      if days.last?.day != day { days.append((day, [])) }
      days[days.count - 1].items.append(html(item))
    }
    let sections = days.map { day, items -> HTML in
      """
      <h3 class="day">\(day) UTC</h3>
      <ol class="story">
      \(items)</ol>

      """
    }
    return "\(sections)"
  }

  private func html(_ item: Timeline.Item) -> HTML {
    switch item {
    case .decisions(let attempts): decisions(attempts)
    case .change(let row): change(row)
    }
  }

  private func decisions(_ attempts: [EvidenceAttempt]) -> HTML {
    let first = attempts[0]
    // The worst of its devices: what somebody looks for.
    let outcomes = attempts.map(\.outcome)
    var worst = EvidenceAttempt.Outcome.approved
    if outcomes.contains(.deferred) { worst = .deferred }
    if outcomes.contains(.dropped) { worst = .dropped }
    let view = AttemptView(context: context)
    let tries = attempts.map { view.html($0) }
    return """
      <li class="decision has-\(worst.rawValue)"><article class="card">
      \(top(first))
      \(tries)</article></li>

      """
  }

  private func top(_ attempt: EvidenceAttempt) -> HTML {
    var parts: [HTML] = [context.clock(attempt.atMs)]
    if let id = attempt.notificationID { parts.append(context.notification(id)) }
    parts.append("<span class=\"tag\">\(words.category(attempt.category))</span>")
    for name in [attempt.event, attempt.subtype] {
      if let name { parts.append("<span class=\"tag\"><bdi>\(name)</bdi></span>") }
    }
    if namesUsers, let user = attempt.userID { parts.append(context.user(user)) }
    return "<div class=\"top\">\(HTML.joined(parts, by: "\n"))</div>"
  }

  // MARK: Changes

  private func change(_ row: AuditRow) -> HTML {
    var parts: [HTML] = [
      "\(ConsoleIcon.pencil) \(context.clock(row.recordedAtMs)) <b>\(subject(row))</b>"
    ]
    let before = row.before.map { words.value($0) }
    if let after = row.after.map({ words.value($0) }) {
      let from: HTML = before.map { "<bdi>\($0)</bdi> → " } ?? .nothing
      parts.append("\(from)<b><bdi>\(after)</bdi></b>")
    } else if let before {
      parts.append("<bdi>\(before)</bdi> → \(words.value(nil))")
    }
    if let device = row.scope.deviceID {
      parts.append("\(words[StoryPhrase.device]) \(context.device(device.text))")
    }
    if let source = row.source { parts.append("\(words.value("\(source.name)"))") }
    if row.outcome != .applied {
      let reason: HTML = row.reason.map { " (<code>\($0)</code>)" } ?? .nothing
      parts.append("<b>\(words.value(row.outcome.rawValue))</b>\(reason)")
    }
    // Known later than it was made: on a phone that was offline, say.
    if abs(row.recordedAtMs - row.atMs) > 60_000 {
      parts.append("\(words[StoryPhrase.madeAt, ("time", ConsoleContext.utc(row.atMs))])")
    }
    return "<li class=\"change\"><p>\(HTML.joined(parts, by: " · "))</p></li>\n"
  }

  private func subject(_ row: AuditRow) -> String {
    var parts = [words.value(row.kind.rawValue)]
    if let category = row.category { parts.append(words.category("\(category.name)")) }
    if let subject = row.subject { parts.append(words.value(subject.text)) }
    return parts.joined(separator: " · ")
  }
}

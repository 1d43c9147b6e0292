import Evidence
import Gate
import Preferences

/// The console's answer for a terminal: the same stories in the same words.
public struct ExplainText: Sendable {
  private let desk: SupportDesk
  private let words: ConsoleWords

  /// - Parameter language: `en` or `zh`.
  public init(desk: SupportDesk, language: String) {
    self.desk = desk
    words = ConsoleWords(language: PageLanguage(rawValue: language) ?? .english)
  }

  /// Nil where nothing is known of the user.
  public func user(_ id: Identifier, limit: Int) throws(StoreError) -> String? {
    guard let story = try desk.user(id, limit: limit) else { return nil }
    var lines = ["\(words[StoryPhrase.user]) \(Self.plain(id.text))", ""]
    lines += now(story.now)
    lines += ["", words[StoryPhrase.timelineTitle]]
    if desk.evidence == nil { lines.append("  " + words[FramePhrase.noIndexText]) }
    if story.timeline.items.isEmpty { lines.append("  " + words[StoryPhrase.timelineEmpty]) }
    for item in story.timeline.items {
      switch item {
      case .decisions(let attempts): lines += attempts.flatMap(attempt)
      case .change(let row): lines.append(change(row))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// One notification of the user; nil where none is on record.
  public func notification(_ id: Identifier, user: Identifier) throws(StoreError) -> String? {
    guard let story = try desk.notification(id.text) else { return nil }
    let own = story.attempts.filter { $0.userID == user.text }
    guard !own.isEmpty else { return nil }
    return
      (["\(words[StoryPhrase.notification]) \(Self.plain(id.text))"] + own.flatMap(attempt))
      .joined(separator: "\n")
  }

  private func now(_ answer: NowAnswer) -> [String] {
    var lines = ["\(words[StoryPhrase.nowTitle]) (\(ConsoleContext.text(answer.atMs)) UTC)"]
    for device in answer.devices {
      lines.append("  " + (device.map(name) ?? words[StoryPhrase.noDevice]))
      for category in Category.allCases {
        guard let decision = answer[device, category] else { continue }
        let category = words.category("\(category.name)")
        lines.append("    \(category): \(words.outcome(decision.outcome)), \(decision.reason)")
        lines.append("      " + meaning(decision.reason))
        if let until = decision.deliverAfterMs {
          lines.append(
            "      " + words[StoryPhrase.heldUntil, ("time", ConsoleContext.text(until))])
        }
        lines += others(decision.blockedBy, decision.reason, indent: "      ")
      }
    }
    return lines
  }

  // MARK: Decisions

  private func attempt(_ attempt: EvidenceAttempt) -> [String] {
    var head = [ConsoleContext.text(attempt.atMs)]
    if let id = attempt.notificationID { head.append(Self.plain(id)) }
    head.append(Self.plain(words.category(attempt.category)))
    if let device = attempt.deviceID { head.append(name(device)) }
    var lines = ["  " + head.joined(separator: " · ")]
    guard !attempt.isUnreadable else {
      return lines + ["    " + words[StoryPhrase.unreadableRecord]]
    }
    lines.append("    \(words.outcome(attempt.outcome.gates)): \(Self.plain(attempt.reason))")
    lines.append("    " + meaning(attempt.reason))
    if let entry = ReasonRegistry.shared[attempt.reason], attempt.outcome != .approved {
      let who = words.list(entry.who.map { words[$0] })
      lines.append("    \(words[StoryPhrase.whoCanAct]): \(who)")
      lines.append("    \(words[StoryPhrase.remedy]): \(words[entry.remedy])")
    }
    lines += others(attempt.blockedBy, attempt.reason, indent: "    ")
    if let until = attempt.deliverAfterMs {
      lines.append("    " + words[StoryPhrase.heldUntil, ("time", ConsoleContext.text(until))])
    }
    if let held = attempt.held {
      lines.append(
        "    "
          + words[
            StoryPhrase.wasHeld, ("from", ConsoleContext.text(held.decidedAtMs)),
            ("to", ConsoleContext.text(held.deliverAfterMs))])
    }
    if let newer = attempt.supersededBy {
      lines.append("    \(words[StoryPhrase.supersededBy]) \(Self.plain(newer))")
    }
    return lines + receipts(attempt)
  }

  /// Two lines of every approval, so that neither is taken for the other.
  private func receipts(_ attempt: EvidenceAttempt) -> [String] {
    guard attempt.outcome == .approved, !attempt.isSelfTest else { return [] }
    let provider =
      attempt.receipts.last { $0.kind == .accepted }
      ?? attempt.receipts.last {
        $0.kind == .rejected
      }
    let seen = attempt.receipts.first { $0.kind == .userObserved }
    var lines: [String] = []
    if let provider {
      let phrase: StoryPhrase = provider.kind == .accepted ? .acceptedMark : .rejectedMark
      let code = provider.code.map { ", " + Self.plain($0) } ?? ""
      lines.append("    \(words[phrase]): \(ConsoleContext.text(provider.atMs))\(code)")
    } else {
      lines.append("    " + words[StoryPhrase.noAnswer])
    }
    lines.append(
      "    "
        + (seen.map { "\(words[StoryPhrase.seenMark]): \(ConsoleContext.text($0.atMs))" }
          ?? words[StoryPhrase.notSeen]))
    return lines
  }

  private func others(_ codes: [String], _ reason: String, indent: String) -> [String] {
    let others = codes.filter { $0 != reason }.map(Self.plain)
    guard !others.isEmpty else { return [] }
    return ["\(indent)\(words[StoryPhrase.alsoBlocked]): \(words.list(others))"]
  }

  private func change(_ row: AuditRow) -> String {
    var parts = [ConsoleContext.text(row.recordedAtMs), words.value(row.kind.rawValue)]
    if let category = row.category { parts.append(words.category("\(category.name)")) }
    if let device = row.scope.deviceID { parts.append(name(device.text)) }
    parts.append("\(words.value(row.before)) → \(words.value(row.after))")
    if let source = row.source { parts.append(words.value("\(source.name)")) }
    if row.outcome != .applied { parts.append(words.value(row.outcome.rawValue)) }
    return "  " + parts.map(Self.plain).joined(separator: " · ")
  }

  private func name(_ device: String) -> String {
    "\(words[StoryPhrase.device]) \(Self.plain(device))"
  }

  private func meaning(_ code: String) -> String {
    ReasonRegistry.shared[code].map { words[$0.words] } ?? Self.plain(code)
  }

  /// Without what a terminal would take for an order, or would turn around.
  static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar -> Unicode.Scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}

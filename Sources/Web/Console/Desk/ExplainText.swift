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
    var lines = ["\(words[StoryPhrase.user]) \(Self.plain(id.text))"] + (try behind()) + [""]
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
    if story.next != nil { lines.append("  " + words[StoryPhrase.thereIsMore]) }
    return lines.joined(separator: "\n")
  }

  /// One notification of the user; nil where none is on record.
  public func notification(_ id: Identifier, user: Identifier) throws(StoreError) -> String? {
    guard let story = try desk.notification(id.text, user: user.text), !story.attempts.isEmpty
    else { return nil }
    let head = ["\(words[StoryPhrase.notification]) \(Self.plain(id.text))"]
    return (head + (try behind()) + story.attempts.flatMap(attempt)).joined(separator: "\n")
  }

  /// One line that says that what is newest is not shown yet; none where everything is.
  public func behind() throws(StoreError) -> [String] {
    guard let text = try desk.state()?.behind(desk.nowMs(), words) else { return [] }
    return ["\(text). \(words[FramePhrase.behindText])"]
  }

  private func now(_ answer: NowAnswer) -> [String] {
    var lines = ["\(words[StoryPhrase.nowTitle]) (\(ConsoleContext.utc(answer.atMs)))"]
    for device in answer.devices {
      lines.append("  " + (device.map(name) ?? words[StoryPhrase.noDevice]))
      for category in Category.allCases {
        guard let decision = answer[device, category] else { continue }
        let category = words.category("\(category.name)")
        lines.append("    \(category): \(words.outcome(decision.outcome)), \(decision.reason)")
        lines.append("      " + meaning(decision.reason))
        if let until = decision.deliverAfterMs {
          lines.append(
            "      " + words[StoryPhrase.heldUntil, ("time", ConsoleContext.utc(until))])
        }
        lines += others(decision.blockedBy, decision.reason, indent: "      ")
      }
    }
    return lines
  }

  // MARK: Decisions

  private func attempt(_ attempt: EvidenceAttempt) -> [String] {
    var head = [ConsoleContext.utc(attempt.atMs)]
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
    lines += details(attempt)
    if let until = attempt.deliverAfterMs {
      lines.append("    " + words[StoryPhrase.heldUntil, ("time", ConsoleContext.utc(until))])
    }
    if let held = attempt.held {
      lines.append(
        "    "
          + words[
            StoryPhrase.wasHeld, ("from", ConsoleContext.utc(held.decidedAtMs)),
            ("to", ConsoleContext.utc(held.deliverAfterMs))])
    }
    if let newer = attempt.supersededBy {
      lines.append("    \(words[StoryPhrase.supersededBy]) \(Self.plain(newer))")
    }
    return lines + values(attempt) + receipts(attempt)
  }

  private func details(_ attempt: EvidenceAttempt) -> [String] {
    var lines: [String] = []
    if let detail = attempt.detail {
      let member = attempt.detailMember.map { ", \($0)" } ?? ""
      lines.append("\(words[StoryPhrase.detail]): \(detail)\(member)")
    }
    if let cap = attempt.cap {
      let frees = cap.freesAtMs.map {
        words[StoryPhrase.capFrees, ("time", ConsoleContext.utc($0))]
      }
      let name = words[StoryPhrase.capName, ("name", cap.name)]
      lines.append(words.sentence([name] + (frees.map { [$0] } ?? [])))
    }
    return lines.map { "    " + Self.plain($0) }
  }

  /// The five values of what did not go, as the console marks them.
  private func values(_ attempt: EvidenceAttempt) -> [String] {
    let isAboutDevice = ReasonRegistry.shared[attempt.reason]?.isAboutDevice ?? true
    guard attempt.outcome != .approved, isAboutDevice else { return [] }
    let context = ConsoleContext(
      words: words, nowMs: desk.nowMs(), bearer: nil, here: "", index: nil,
      localTime: { [panel = desk.panel] in panel.localTime($0, in: $1) })
    let lines = ValuesView(context: context).lines(attempt.values, atMs: attempt.atMs)
    return ["    \(words[StoryPhrase.valuesTitle]):"] + lines.map { "      " + Self.plain($0) }
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
      lines.append("    \(words[phrase]): \(ConsoleContext.utc(provider.atMs))\(code)")
    } else {
      lines.append("    " + words[StoryPhrase.noAnswer])
    }
    lines.append(
      "    "
        + (seen.map { "\(words[StoryPhrase.seenMark]): \(ConsoleContext.utc($0.atMs))" }
          ?? words[StoryPhrase.notSeen]))
    return lines
  }

  private func others(_ codes: [String], _ reason: String, indent: String) -> [String] {
    let others = codes.filter { $0 != reason }.map(Self.plain)
    guard !others.isEmpty else { return [] }
    return ["\(indent)\(words[StoryPhrase.alsoBlocked]): \(words.list(others))"]
  }

  private func change(_ row: AuditRow) -> String {
    var parts = [ConsoleContext.utc(row.recordedAtMs), words.value(row.kind.rawValue)]
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

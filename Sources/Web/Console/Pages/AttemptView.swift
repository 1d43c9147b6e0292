import Evidence
import Gate

/// One decision about one device: what came out, why in words, the five values, what became of it.
struct AttemptView {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  /// Where an attempt stands on its page.
  static func anchor(_ sequence: Int64) -> String { "a\(sequence)" }

  func html(_ attempt: EvidenceAttempt) -> HTML {
    """
    <div class="try" id="\(Self.anchor(attempt.sequence))">
    <div class="verdict">\(pill(attempt))\(device(attempt))\(marker(attempt))</div>
    \(attempt.isUnreadable ? unreadable : reason(attempt))
    \(track(attempt))
    \(hold(attempt))
    \(values(attempt))
    \(decidedBy(attempt))
    </div>

    """
  }

  static func pill(_ outcome: Outcome, _ text: String) -> HTML {
    let icon =
      switch outcome {
      case .approved: ConsoleIcon.check
      case .deferred: ConsoleIcon.clock
      case .dropped: ConsoleIcon.cross
      }
    return "<span class=\"pill \("\(outcome.name)")\">\(icon)\(text)</span>"
  }

  private func pill(_ attempt: EvidenceAttempt) -> HTML {
    let outcome = attempt.outcome.gates
    return Self.pill(outcome, words.outcome(outcome))
  }

  private func device(_ attempt: EvidenceAttempt) -> HTML {
    guard let id = attempt.deviceID else {
      return "<span class=\"soft\">\(words[StoryPhrase.noDevice])</span>"
    }
    let platform = attempt.approval?.platform.map { " · \(words.value($0))" } ?? ""
    return "<span>\(ConsoleIcon.phone) \(context.device(id))\(platform)</span>"
  }

  private func marker(_ attempt: EvidenceAttempt) -> HTML {
    guard attempt.isSelfTest else { return .nothing }
    return "<span class=\"tag\">\(ConsoleIcon.flask) \(words[StoryPhrase.selfTestOnly])</span>"
  }

  private var unreadable: HTML { "<p class=\"why\">\(words[StoryPhrase.unreadableRecord])</p>" }

  // MARK: Why

  private func reason(_ attempt: EvidenceAttempt) -> HTML {
    let entry = ReasonRegistry.shared[attempt.reason]
    let meaning: HTML = entry.map { HTML.marked(words[$0.words]) } ?? "\(attempt.reason)"
    var facts: [HTML] = ["<code>\(attempt.reason)</code>"]
    if let entry, attempt.outcome != .approved {
      let who = words.list(entry.who.map { words[$0] })
      facts.append("<b>\(words[StoryPhrase.whoCanAct])</b> \(who)")
      facts.append("<b>\(words[StoryPhrase.remedy])</b> \(HTML.marked(words[entry.remedy]))")
      if let link = entry.link { facts.append("→ \(words[link.words])") }
    }
    facts += details(attempt)
    return """
      <p class="why">\(meaning)</p>
      <p class="facts">\(HTML.joined(facts, by: " · "))</p>
      \(others(attempt))
      """
  }

  private func details(_ attempt: EvidenceAttempt) -> [HTML] {
    var facts: [HTML] = []
    if let detail = attempt.detail {
      let member: HTML = attempt.detailMember.map { ", <code>\($0)</code>" } ?? .nothing
      facts.append("<b>\(words[StoryPhrase.detail])</b> <code>\(detail)</code>\(member)")
    }
    if let cap = attempt.cap {
      facts.append("<b>\(words[StoryPhrase.capName, ("name", cap.name)])</b>")
      if let frees = cap.freesAtMs {
        facts.append("\(words[StoryPhrase.capFrees, ("time", ConsoleContext.utc(frees))])")
      }
    }
    if let newer = attempt.supersededBy {
      facts.append("<b>\(words[StoryPhrase.supersededBy])</b> \(context.notification(newer))")
    }
    if let approval = attempt.approval {
      if let before = approval.sendBeforeMs {
        facts.append("\(words[StoryPhrase.sendBefore, ("time", ConsoleContext.utc(before))])")
      }
      if let how = approval.interruption {
        facts.append("\(words[StoryPhrase.interruption, ("how", words.value(how))])")
      }
    }
    return facts
  }

  /// Mending the first reason would merely uncover these.
  private func others(_ attempt: EvidenceAttempt) -> HTML {
    let codes = attempt.blockedBy.filter { $0 != attempt.reason }
    guard !codes.isEmpty else { return .nothing }
    let texts = codes.map { code -> HTML in
      guard let entry = ReasonRegistry.shared[code] else { return "<code>\(code)</code>" }
      return "<code>\(code)</code> \(HTML.marked(words[entry.words]))"
    }
    return """
      <p class="facts"><b>\(words[StoryPhrase.alsoBlocked])</b> \(HTML.joined(texts, by: " · "))</p>
      """
  }

  // MARK: What became of it

  private func track(_ attempt: EvidenceAttempt) -> HTML {
    guard attempt.outcome == .approved, !attempt.isSelfTest else { return .nothing }
    return ReceiptTrack(context: context).html(attempt)
  }

  private func hold(_ attempt: EvidenceAttempt) -> HTML {
    var lines: [HTML] = []
    if let until = attempt.deliverAfterMs {
      let text = words[StoryPhrase.heldUntil, ("time", ConsoleContext.utc(until))]
      let next: HTML
      if let sequence = attempt.releasedAs {
        next = " · \(link(to: sequence, attempt, words[StoryPhrase.becameOf]))"
      } else {
        next = attempt.isOpenHold ? " · \(words[StoryPhrase.stillHeld])" : .nothing
      }
      lines.append("<b>\(text)</b>\(next)")
    }
    if let held = attempt.held {
      let text = words[
        StoryPhrase.wasHeld, ("from", ConsoleContext.utc(held.decidedAtMs)),
        ("to", ConsoleContext.utc(held.deliverAfterMs))]
      let first: HTML =
        attempt.heldAs.map { " · \(link(to: $0, attempt, words[StoryPhrase.heldThen]))" }
        ?? .nothing
      lines.append("\(text)\(first)")
    }
    guard !lines.isEmpty else { return .nothing }
    return "<p class=\"facts\">\(ConsoleIcon.clock) \(HTML.joined(lines, by: " · "))</p>"
  }

  /// Both ends of a hold stand on their notification's page.
  private func link(to sequence: Int64, _ attempt: EvidenceAttempt, _ text: String) -> HTML {
    guard let id = attempt.notificationID else { return "\(text)" }
    let page = context.link("/console/notifications/\(PercentText.encode(id))")
    return "<a href=\"\(page)#\(Self.anchor(sequence))\">\(text)</a>"
  }

  // MARK: By what

  private func values(_ attempt: EvidenceAttempt) -> HTML {
    let isAboutDevice = ReasonRegistry.shared[attempt.reason]?.isAboutDevice ?? true
    guard isAboutDevice, !attempt.isUnreadable else { return .nothing }
    let values = ValuesView(context: context)
      .html(
        attempt.values, reasons: attempt.blockedBy + [attempt.reason], atMs: attempt.atMs)
    guard attempt.outcome == .approved else { return values }
    return """
      <details><summary>\(words[StoryPhrase.valuesTitle])</summary>
      \(values)
      </details>
      """
  }

  private func decidedBy(_ attempt: EvidenceAttempt) -> HTML {
    let place = attempt.place
    var parts = [
      words[
        StoryPhrase.record, ("topic", place.topic), ("partition", "\(place.partition)"),
        ("offset", "\(place.offset)")]
    ]
    let versions = attempt.versions
    if let policy = versions.policy {
      parts.append(words[StoryPhrase.policyVersion, ("version", policy)])
    }
    if let version = versions.preferences {
      let offset = versions.preferenceOffset.map { "\($0)" } ?? "–"
      parts.append(
        words[StoryPhrase.preferenceVersion, ("version", "\(version)"), ("offset", offset)])
    }
    if let zones = versions.zones {
      parts.append(words[StoryPhrase.zonesVersion, ("version", zones)])
    }
    if let gate = versions.gate { parts.append(words[StoryPhrase.gateVersion, ("version", gate)]) }
    return "<p class=\"facts small\">\(parts.joined(separator: " · "))</p>"
  }
}

extension EvidenceAttempt.Outcome {
  var gates: Outcome {
    switch self {
    case .approved: .approved
    case .deferred: .deferred
    case .dropped: .dropped
    }
  }
}

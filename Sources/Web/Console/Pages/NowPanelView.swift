import Gate
import Preferences

/// What would happen now: a row for each device, a column for each category.
struct NowPanelView {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  func html(_ story: UserStory) -> HTML {
    let answer = story.now
    let heads = Category.allCases.map { category -> HTML in
      "<th scope=\"col\">\(words.category("\(category.name)"))</th>"
    }
    let rows = answer.devices.map { row($0, story) }
    let at: String
    if let version = answer.preferenceVersion {
      at =
        words[
          StoryPhrase.nowDocument, ("time", ConsoleContext.utc(answer.atMs)),
          ("version", "\(version)"), ("policy", answer.policyVersion)]
    } else {
      at =
        words[
          StoryPhrase.nowNoDocument, ("time", ConsoleContext.utc(answer.atMs)),
          ("policy", answer.policyVersion)]
    }
    return """
      <section class="card" aria-labelledby="now">
      <h2 id="now">\(words[StoryPhrase.nowTitle])</h2>
      <p class="soft">\(words[StoryPhrase.nowText]) \(at)</p>
      <table class="now">
      <thead><tr><th scope="col">\(words[StoryPhrase.device])</th>\(heads)</tr></thead>
      <tbody>
      \(rows)</tbody>
      </table>
      </section>
      """
  }

  private func row(_ device: String?, _ story: UserStory) -> HTML {
    let cells = Category.allCases.map { category -> HTML in
      let name = words.category("\(category.name)")
      guard let decision = story.now[device, category] else {
        return "<td data-name=\"\(name)\"></td>"
      }
      return "<td data-name=\"\(name)\">\(cell(decision))</td>\n"
    }
    return "<tr><th scope=\"row\">\(head(device, story))</th>\n\(cells)</tr>\n"
  }

  private func head(_ device: String?, _ story: UserStory) -> HTML {
    guard let device else { return "\(words[StoryPhrase.noDevice])" }
    guard let own = story.preferences?.devices[Identifier(device)], let sync = own.sync?.value
    else { return "\(ConsoleIcon.phone) \(context.device(device))" }
    var facts = [words.value("\(sync.platform.name)")]
    facts += [sync.region?.text, sync.timezone?.text].compactMap(\.self)
    return """
      \(ConsoleIcon.phone) \(context.device(device))\
      <span class="soft">\(facts.joined(separator: " · "))</span>
      """
  }

  private func cell(_ decision: NowDecision) -> HTML {
    let phrase: StoryPhrase =
      switch decision.outcome {
      case .approved: .wouldGo
      case .deferred: .wouldWait
      case .dropped: .wouldNot
      }
    let pill = AttemptView.pill(decision.outcome, words[phrase])
    var notes: [HTML] = []
    // Of a plain yes there is nothing more to say.
    if decision.reason != "ok" {
      let entry = ReasonRegistry.shared[decision.reason]
      notes.append(entry.map { HTML.marked(words[$0.words]) } ?? "<code>\(decision.reason)</code>")
    }
    if let until = decision.deliverAfterMs {
      notes.append("<b>\(words[StoryPhrase.until, ("time", ConsoleContext.utc(until))])</b>")
    }
    let others = decision.blockedBy.filter { $0 != decision.reason }
    if !others.isEmpty {
      let codes = others.map { code -> HTML in "<code>\(code)</code>" }
      notes.append("+ \(HTML.joined(codes, by: ", "))")
    }
    let lines = notes.map { note -> HTML in "<span class=\"soft\">\(note)</span>" }
    return "\(pill)\(lines)"
  }
}

import Evidence
import Gate

/// What the newest self-test said, and those before it.
struct SelfTestPage {
  let context: ConsoleContext
  /// Newest first.
  var runs: [SelfTestRun]
  static let runsMax = 20
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let main: HTML = """
      <h1>\(words[ChartPhrase.selfTestTitle])</h1>
      <p class="soft">\(words[ChartPhrase.selfTestText])</p>
      \(ConsoleNotes.noIndex(context))
      \(newest)
      \(earlier)
      """
    return ConsoleFrame(context: context).page(title: words[ChartPhrase.selfTestTitle], main)
  }

  private var newest: HTML {
    guard let run = runs.first else {
      return "<p class=\"notice\">\(words[ChartPhrase.selfTestNone])</p>"
    }
    let report = JSONNode(Array(run.report.utf8))
    let whole: HTML = report.map { value($0) } ?? "\(run.report)"
    return """
      <section class="card" aria-label="\(words[ChartPhrase.selfTestTitle])">
      <div class="heading"><div>\(pill(run)) \(context.time(run.atMs))</div>\
      <span class="soft">\(words[ChartPhrase.selfTestVersion, ("version", run.version)])</span></div>
      \(report.map(disagreements) ?? .nothing)
      \(report.map(states) ?? .nothing)
      <details><summary>\(words[ChartPhrase.report])</summary>
      <div class="scroll" tabindex="0" role="group" aria-label="\(words[ChartPhrase.report])">
      \(whole)</div></details>
      </section>
      """
  }

  /// What does not agree, each with where to look first.
  private func disagreements(_ report: JSONNode) -> HTML {
    let found = report["disagreements"].elements
    guard !found.isEmpty else {
      guard !report["states"].members.isEmpty else { return .nothing }
      return "<p class=\"notice good\">\(words[ChartPhrase.everythingAgrees])</p>"
    }
    let items = found.map { one -> HTML in
      let state: HTML = one["state"].text.map { "<bdi>\($0)</bdi>: " } ?? .nothing
      return """
        <li><b>\(state)<code>\(one["what"].text ?? "")</code></b><br>
        \(words[ChartPhrase.expected]): <bdi>\(one["expected"].text ?? "–")</bdi> ·
        \(words[ChartPhrase.found]): <b><bdi>\(one["found"].text ?? "–")</bdi></b><br>
        <span class="soft">\(one["look"].text ?? "")</span></li>

        """
    }
    return """
      <div class="notice bad"><b>\(words[ChartPhrase.disagreements])</b>
      <ul>\(items)</ul></div>
      """
  }

  /// A line for each synthetic user: what its notification was to become, and what it became.
  private func states(_ report: JSONNode) -> HTML {
    let states = report["states"].members
    guard !states.isEmpty else { return .nothing }
    let rows = states.map { name, state -> HTML in
      let agrees = state["agrees"].bool ?? false
      let pill =
        agrees
        ? AttemptView.pill(.approved, words[ChartPhrase.agrees])
        : AttemptView.pill(.dropped, words[ChartPhrase.differs])
      let user = state["user_id"].text.map { context.user($0) } ?? .nothing
      return """
        <tr><th scope="row"><bdi>\(name.replacing("_", with: " "))</bdi><br>\(user)</th>
        <td>\(pill)</td><td>\(verdict(state["expected"]))</td><td>\(verdict(state["found"]))</td></tr>

        """
    }
    return """
      <table class="plain stacked">
      <thead><tr><th scope="col">\(words[ChartPhrase.state])</th><th scope="col"></th>\
      <th scope="col">\(words[ChartPhrase.expected])</th>\
      <th scope="col">\(words[ChartPhrase.found])</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>
      """
  }

  private func verdict(_ node: JSONNode) -> HTML {
    guard let outcome = node["outcome"].text else { return "\(words[ChartPhrase.nothingFound])" }
    let known = Outcome.allCases.first { "\($0.name)" == outcome }
    let shown = known.map { words.outcome($0) } ?? outcome
    return "\(shown) <code>\(node["reason"].text ?? "")</code>"
  }

  private var earlier: HTML {
    guard runs.count > 1 else { return .nothing }
    let rows = runs.dropFirst().map { run -> HTML in
      "<tr><td>\(context.time(run.atMs))</td><td>\(pill(run))</td><td>\(run.version)</td></tr>\n"
    }
    return """
      <section class="card" aria-label="\(words[ChartPhrase.history])">
      <h2>\(words[ChartPhrase.history])</h2>
      <table class="plain"><tbody>
      \(rows)</tbody></table>
      </section>
      """
  }

  private func pill(_ run: SelfTestRun) -> HTML {
    run.outcome == .passed
      ? AttemptView.pill(.approved, words[ChartPhrase.passed])
      : AttemptView.pill(.dropped, words[ChartPhrase.failed])
  }

  /// The report is the self-test's own: whatever it holds is shown, a table for what has names and a
  /// list for what has none.
  private func value(_ node: JSONNode) -> HTML {
    let members = node.members
    if !members.isEmpty {
      let rows = members.map { name, member -> HTML in
        "<tr><th scope=\"row\">\(name.replacing("_", with: " "))</th><td>\(value(member))</td></tr>\n"
      }
      return "<table class=\"plain\"><tbody>\n\(rows)</tbody></table>"
    }
    let elements = node.elements
    if !elements.isEmpty {
      return "<ul>\(elements.map { element -> HTML in "<li>\(value(element))</li>\n" })</ul>"
    }
    if let flag = node.bool {
      return flag
        ? AttemptView.pill(.approved, words[ChartPhrase.passed])
        : AttemptView.pill(.dropped, words[ChartPhrase.failed])
    }
    if let text = node.text { return "<bdi>\(text)</bdi>" }
    let text = String(decoding: node.json, as: UTF8.self)
    return ["{}", "[]", "null"].contains(text) ? "–" : "\(text)"
  }
}

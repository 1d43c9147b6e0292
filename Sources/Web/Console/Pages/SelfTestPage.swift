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
    let report: HTML = JSONNode(Array(run.report.utf8)).map { value($0) } ?? "\(run.report)"
    return """
      <section class="card" aria-label="\(words[ChartPhrase.report])">
      <div class="heading"><div>\(pill(run)) \(context.time(run.atMs))</div>\
      <span class="soft">\(words[ChartPhrase.selfTestVersion, ("version", run.version)])</span></div>
      \(report)
      </section>
      """
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

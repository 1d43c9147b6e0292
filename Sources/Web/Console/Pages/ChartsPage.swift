import Evidence
import Gate

/// What is easier looked at than read: decisions over time, quiet hours, holds that fall due.
struct ChartsPage {
  let context: ConsoleContext
  var outcomes: OutcomeFigures
  var holds: HoldFigures
  /// Nil where it was not counted yet.
  var quiet: QuietMap.Answer?
  private var words: ConsoleWords { context.words }
  private static let hourMs: Int64 = 3_600_000
  static let ranges = [24, 168]

  var bytes: [UInt8] {
    let main: HTML = """
      <div class="heading"><h1>\(words[ChartPhrase.chartsTitle])</h1>\
      <span class="soft">\(words[ChartPhrase.utc])</span></div>
      \(ConsoleNotes.noIndex(context))
      \(card(.outcomesTitle, .outcomesText, decisions))
      \(card(.quietTitle, .quietText, quietHours))
      \(card(.holdsTitle, .holdsText, holdsDue))
      """
    return ConsoleFrame(context: context).page(title: words[ChartPhrase.chartsTitle], main)
  }

  private func card(_ title: ChartPhrase, _ text: ChartPhrase, _ content: HTML) -> HTML {
    """
    <section class="card" aria-label="\(words[title])">
    <h2>\(words[title])</h2>
    <p class="soft">\(words[text])</p>
    \(content)
    </section>
    """
  }

  // MARK: Decisions

  private var decisions: HTML {
    let links = Self.ranges.map { hours -> HTML in
      let name = words[hours == 24 ? ChartPhrase.lastDay : .lastWeek]
      let isHere = hours == outcomes.hours
      let current: HTML = isHere ? " aria-current=\"true\"" : .nothing
      let link = context.link("/console/charts", ("hours", "\(hours)"))
      return "<a href=\"\(link)\"\(current)>\(name)</a>\n"
    }
    let series = Self.series(outcomes, other: words[ChartPhrase.other])
    guard !series.isEmpty else {
      return """
        <p class="ranges">\(links)</p>
        <p class="soft">\(words[ChartPhrase.noDecisions])</p>
        """
    }
    let chart = BarChart(
      names: names(outcomes.fromMs, outcomes.hours),
      labels: labels(outcomes.fromMs, outcomes.hours), series: series,
      title: words[ChartPhrase.outcomesTitle])
    return """
      <p class="ranges">\(links)</p>
      \(chart.html)
      \(chart.keys)
      \(figures(chart))
      """
  }

  /// By reason, the commonest first; `ok` and what is held keep their colours whatever else there is.
  static func series(_ figures: OutcomeFigures, other: String) -> [BarChart.Series] {
    var values: [String: [Int64]] = [:]
    for count in figures.counts {
      let column = Int((count.hourMs - figures.fromMs) / hourMs)
      guard (0..<figures.hours).contains(column), count.count > 0 else { continue }
      values[count.reason, default: Array(repeating: 0, count: figures.hours)][column] +=
        count.count
    }
    let fixed = ["ok": 0, "quiet_hours_deferred": 1]
    let byTotal = values.keys.sorted { a, b in
      let (totalA, totalB) = (values[a]!.reduce(0, +), values[b]!.reduce(0, +))
      return totalA != totalB ? totalA > totalB : a < b
    }
    var series: [BarChart.Series] = []
    var rest = Array(repeating: Int64(0), count: figures.hours)
    var tone = 2
    for reason in byTotal {
      if let own = fixed[reason] {
        series.append(BarChart.Series(name: reason, tone: own, values: values[reason]!))
      } else if tone < 8, reason != "other" {
        series.append(BarChart.Series(name: reason, tone: tone, values: values[reason]!))
        tone += 1
      } else {
        for column in rest.indices { rest[column] += values[reason]![column] }
      }
    }
    series.sort { $0.tone < $1.tone }
    if rest.contains(where: { $0 > 0 }) {
      series.append(BarChart.Series(name: other, tone: 8, values: rest))
    }
    return series
  }

  // MARK: The coming day

  private var quietHours: HTML {
    guard let quiet, quiet.users.contains(where: { $0 > 0 }) else {
      return "<p class=\"soft\">\(words[ChartPhrase.quietNone])</p>"
    }
    let chart = coming(quiet.fromMs, quiet.users.map { Int64($0) }, tone: 3, .quietTitle)
    let counted = words[
      ChartPhrase.quietNow, ("time", ConsoleContext.utc(quiet.atMs)),
      ("users", BarChart.grouped(Int64(quiet.population)))]
    return """
      \(chart.html)
      <p class="soft">\(counted)</p>
      \(figures(chart))
      """
  }

  private var holdsDue: HTML {
    guard holds.counts.contains(where: { $0 > 0 }) else {
      return "<p class=\"soft\">\(words[ChartPhrase.holdsNone])</p>"
    }
    let chart = coming(holds.fromMs, holds.counts, tone: 1, .holdsTitle)
    let total = words[
      ChartPhrase.total, ("number", BarChart.grouped(holds.counts.reduce(0, +)))]
    let peak = words[ChartPhrase.peak, ("number", BarChart.grouped(holds.counts.max() ?? 0))]
    return """
      \(chart.html)
      <p class="soft">\(words.sentence([total, peak]))</p>
      \(figures(chart))
      """
  }

  private func coming(
    _ fromMs: Int64, _ values: [Int64], tone: Int, _ title: ChartPhrase
  ) -> BarChart {
    BarChart(
      names: names(fromMs, values.count), labels: labels(fromMs, values.count),
      series: [BarChart.Series(name: words[title], tone: tone, values: values)],
      title: words[title])
  }

  private func names(_ fromMs: Int64, _ hours: Int) -> [String] {
    (0..<hours).map { String(ConsoleContext.text(fromMs + Int64($0) * Self.hourMs).prefix(16)) }
  }

  /// Every third hour of a day, every midnight of a week.
  private func labels(_ fromMs: Int64, _ hours: Int) -> [String] {
    names(fromMs, hours).map { name in
      let hour = Int(name.dropFirst(11).prefix(2)) ?? 0
      if hours > 24 { return hour == 0 ? String(name.dropFirst(5).prefix(5)) : "" }
      return hour % 3 == 0 ? String(name.suffix(5)) : ""
    }
  }

  /// The same as a table, for who cannot see the picture or wants the numbers.
  private func figures(_ chart: BarChart) -> HTML {
    let heads = chart.series.map { one -> HTML in
      "<th scope=\"col\" class=\"figure\">\(one.name)</th>"
    }
    let rows = chart.names.indices.map { column -> HTML in
      let cells = chart.series.map { one -> HTML in
        "<td class=\"figure\">\(BarChart.grouped(one.values[column]))</td>"
      }
      return "<tr><th scope=\"row\">\(chart.names[column])</th>\(cells)</tr>\n"
    }
    return """
      <details><summary>\(words[ChartPhrase.figures])</summary>
      <div class="scroll" tabindex="0" role="group" aria-label="\(words[ChartPhrase.figures])">
      <table class="plain">
      <thead><tr><th scope="col">\(words[ChartPhrase.hour])</th>\(heads)</tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      </details>
      """
  }
}

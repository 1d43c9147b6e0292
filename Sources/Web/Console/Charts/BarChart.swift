/// Bars over hours, stacked by kind, as SVG that needs neither style attributes nor a script.
struct BarChart: Sendable {
  struct Series: Sendable {
    var name: String
    /// Of the palette, 0 to 8.
    var tone: Int
    /// One for each column.
    var values: [Int64]
  }

  /// Of each column, for whoever points at it.
  var names: [String]
  /// Under a column; empty: nothing is written there.
  var labels: [String]
  var series: [Series]
  /// What the picture is of, for those who do not see it.
  var title: String

  private static let width = 760.0
  private static let height = 250.0
  private static let left = 60.0
  /// Half a label, which stands in the middle under the last bar.
  private static let right = 20.0
  private static let top = 16.0
  private static let bottom = 36.0

  var html: HTML {
    let totals = names.indices.map { column in series.reduce(Int64(0)) { $0 + $1.values[column] } }
    let most = Self.ceiling(max(totals.max() ?? 0, 1))
    return """
      <div class="chart" tabindex="0" role="group" aria-label="\(title)">
      <svg viewBox="0 0 \(Self.text(Self.width)) \(Self.text(Self.height))" role="img" \
      aria-label="\(title)">
      \(grid(most))
      \(bars(most))
      \(captions)
      </svg>
      </div>
      """
  }

  private var plotHeight: Double { Self.height - Self.top - Self.bottom }
  private var step: Double { (Self.width - Self.left - Self.right) / Double(max(names.count, 1)) }

  private func y(_ value: Int64, _ most: Int64) -> Double {
    Self.top + plotHeight * (1 - Double(value) / Double(most))
  }

  private func grid(_ most: Int64) -> HTML {
    let lines = (0...4).map { $0 * most / 4 }.reduce(into: [Int64]()) { lines, value in
      if lines.last != value { lines.append(value) }
    }
    let drawn = lines.map { value -> HTML in
      let at = y(value, most)
      return """
        <line class="grid" x1="\(Self.text(Self.left))" x2="\(Self.text(Self.width))" \
        y1="\(Self.text(at))" y2="\(Self.text(at))"/>\
        <text x="\(Self.text(Self.left - 6))" y="\(Self.text(at + 4))" text-anchor="end">\
        \(Self.short(value))</text>

        """
    }
    return "\(drawn)"
  }

  private func bars(_ most: Int64) -> HTML {
    var bars: [HTML] = []
    for column in names.indices {
      var below: Int64 = 0
      for one in series where one.values[column] > 0 {
        let value = one.values[column]
        let top = y(below + value, most)
        let x = Self.left + Double(column) * step + step * 0.1
        let name = series.count > 1 ? "\(names[column]) · \(one.name)" : names[column]
        bars.append(
          """
          <rect class="c\(one.tone)" x="\(Self.text(x))" y="\(Self.text(top))" \
          width="\(Self.text(step * 0.8))" height="\(Self.text(max(y(below, most) - top, 0.6)))">\
          <title>\(name): \(value)</title></rect>

          """)
        below += value
      }
    }
    return "\(bars)"
  }

  private var captions: HTML {
    let drawn = labels.indices.filter { !labels[$0].isEmpty }.map { column -> HTML in
      let x = Self.left + (Double(column) + 0.5) * step
      return """
        <text x="\(Self.text(x))" y="\(Self.text(Self.height - 8))" text-anchor="middle">\
        \(labels[column])</text>

        """
    }
    return "\(drawn)"
  }

  /// The colours' names, with how many there are of each.
  var keys: HTML {
    let items = series.map { one -> HTML in
      let total = one.values.reduce(0, +)
      return "<li class=\"c\(one.tone)\">\(one.name) <b>\(Self.grouped(total))</b></li>\n"
    }
    return "<ul class=\"keys\">\n\(items)</ul>"
  }

  // MARK: Numbers

  /// The next round number up that four lines divide.
  static func ceiling(_ value: Int64) -> Int64 {
    guard value > 4 else { return 4 }
    var unit: Int64 = 1
    while unit * 100 < value { unit *= 10 }
    return [4, 8, 12, 20, 40, 60, 80, 100].map { $0 * unit }.first { $0 >= value } ?? 100 * unit
  }

  static func grouped(_ value: Int64) -> String {
    var text = ""
    for (index, digit) in "\(value)".reversed().enumerated() {
      if index > 0, index % 3 == 0, digit != "-" { text = "," + text }
      text = "\(digit)" + text
    }
    return text
  }

  /// Beside a line of the grid, where there is little room.
  static func short(_ value: Int64) -> String {
    if value >= 10_000_000 { return "\(value / 1_000_000)M" }
    return value >= 10_000 ? "\(value / 1_000)k" : "\(value)"
  }

  /// One digit behind the point is finer than a screen's.
  static func text(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    let rest = abs(tenths) % 10
    return (tenths < 0 ? "-" : "") + "\(abs(tenths) / 10)" + (rest == 0 ? "" : ".\(rest)")
  }
}

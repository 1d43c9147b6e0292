/// One metric name and its samples: what OpenMetrics calls a metric family.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable {
    case counter, gauge, histogram, info
  }

  enum Instrument: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case read(@Sendable () -> Double?)
    case readCount(@Sendable () -> UInt64)
    case readBuckets([Double], @Sendable () -> (counts: [UInt64], sum: Double))
    case histogram(Histogram)
    case info
  }

  let name: String
  let kind: Kind
  let unit: String
  let help: String
  let labelNames: [String]
  /// `labels` as shown between the braces, escaped once, at registration.
  private var samples: [(labels: String, instrument: Instrument)] = []

  init(name: String, kind: Kind, unit: String, help: String, labelNames: [String]) {
    for label in labelNames {
      // `le` is the histogram's own; a second one would make the line ambiguous.
      precondition(Self.isValidName(label) && label != "le", "\(label) is no label name")
    }
    precondition(Set(labelNames).count == labelNames.count, "\(name): a label is named twice")
    self.name = name
    self.kind = kind
    self.unit = unit
    self.help = help
    self.labelNames = labelNames
  }

  static func isValidName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (0x61...0x7A).contains(first) else { return false }
    return name.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
    }
  }

  /// The instrument of these labels, made if it is not there yet.
  mutating func instrument(labels: Labels, make: () -> Instrument) -> Instrument {
    var text = TextBuffer()
    for (i, label) in labels.enumerated() {
      if i > 0 { text.append(",") }
      text.append(label.key)
      text.append("=\"")
      text.appendOpenMetricsEscaped(label.value)
      text.append("\"")
    }
    let shown = String(decoding: text.bytes, as: UTF8.self)
    if let found = samples.first(where: { $0.labels == shown }) { return found.instrument }
    let made = make()
    samples.append((shown, made))
    return made
  }

  func render(into text: inout TextBuffer) {
    text.append("# TYPE \(name) \(kind.rawValue)\n")
    if !unit.isEmpty { text.append("# UNIT \(name) \(unit)\n") }
    text.append("# HELP \(name) ")
    text.appendOpenMetricsEscaped(help)
    text.append("\n")
    for sample in samples { render(sample.instrument, sample.labels, into: &text) }
  }

  private func render(_ instrument: Instrument, _ labels: String, into text: inout TextBuffer) {
    switch instrument {
    case .counter(let counter):
      line("_total", labels, "\(counter.value)", into: &text)
    case .gauge(let gauge):
      if let value = gauge.value { line("", labels, Self.number(value), into: &text) }
    case .read(let read):
      if let value = read() { line("", labels, Self.number(value), into: &text) }
    case .readCount(let read):
      line("_total", labels, "\(read())", into: &text)
    case .info:
      line("_info", labels, "1", into: &text)
    case .histogram(let histogram):
      render(histogram.snapshot(), histogram.bounds, labels, into: &text)
    case .readBuckets(let bounds, let read):
      render(read(), bounds, labels, into: &text)
    }
  }

  private func render(
    _ snapshot: (counts: [UInt64], sum: Double), _ bounds: [Double], _ labels: String,
    into text: inout TextBuffer
  ) {
    let separator = labels.isEmpty ? "" : ","
    var cumulated: UInt64 = 0
    for (i, count) in snapshot.counts.enumerated() {
      cumulated += count
      let bound = i < bounds.count ? Self.number(bounds[i]) : "+Inf"
      line("_bucket", "\(labels)\(separator)le=\"\(bound)\"", "\(cumulated)", into: &text)
    }
    line("_count", labels, "\(cumulated)", into: &text)
    line("_sum", labels, Self.number(snapshot.sum), into: &text)
  }

  private func line(
    _ suffix: String, _ labels: String, _ value: String, into text: inout TextBuffer
  ) {
    text.append(name)
    text.append(suffix)
    if !labels.isEmpty { text.append("{\(labels)}") }
    text.append(" \(value)\n")
  }

  /// OpenMetrics spells the specials its own way; Swift's shortest form is right for the rest.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return "\(value)"
  }
}

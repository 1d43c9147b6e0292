import Synchronization

/// The base unit of a metric; the last part of its name.
public enum MetricUnit: String, Sendable {
  case none = ""
  case seconds, bytes, ratio
}

/// The labels of one sample, in the order they are shown. Values must come from a small closed set:
/// every combination is a time series of its own for as long as the process lives.
public typealias Labels = KeyValuePairs<String, String>

/// All metrics of a process. Register at start and keep the handles; recording takes no lock and
/// makes no allocation. Registering the same name with the same labels again gives the same handle;
/// with another type, unit, help or set of label names it traps, as does a name outside
/// `[a-z][a-z0-9_]*`.
public final class MetricRegistry: Sendable {
  private let namespace: String
  private let families = Mutex<[MetricFamily]>([])

  public init(namespace: String = "sendgate") {
    self.namespace = namespace
  }

  /// Shown as `<namespace>_<name>[_<unit>]_total`.
  public func counter(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:]
  ) -> Counter {
    let instrument = register(.counter, name, unit, help, labels) { .counter(Counter()) }
    guard case .counter(let counter) = instrument else { preconditionFailure(name) }
    return counter
  }

  public func gauge(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:]
  ) -> Gauge {
    let instrument = register(.gauge, name, unit, help, labels) { .gauge(Gauge()) }
    guard case .gauge(let gauge) = instrument else { preconditionFailure("\(name): read twice") }
    return gauge
  }

  /// A gauge that is read when somebody asks; `read` runs on the asking thread and must be quick.
  /// Nil leaves the sample out.
  public func gauge(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:],
    read: @escaping @Sendable () -> Double?
  ) {
    var isNew = false
    _ = register(.gauge, name, unit, help, labels) {
      isNew = true
      return .read(read)
    }
    precondition(isNew, "\(name) with these labels is registered already")
  }

  public func histogram(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:],
    bounds: [Double]
  ) -> Histogram {
    let instrument = register(.histogram, name, unit, help, labels) {
      .histogram(Histogram(bounds: bounds))
    }
    guard case .histogram(let histogram) = instrument, histogram.bounds == bounds else {
      preconditionFailure("\(name): registered with other bounds")
    }
    return histogram
  }

  /// A count kept elsewhere, read when somebody asks; it must only grow.
  public func counter(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:],
    read: @escaping @Sendable () -> UInt64
  ) {
    var isNew = false
    _ = register(.counter, name, unit, help, labels) {
      isNew = true
      return .readCount(read)
    }
    precondition(isNew, "\(name) with these labels is registered already")
  }

  /// A histogram kept elsewhere: one count per bound and one for the rest, not cumulated.
  public func histogram(
    _ name: String, unit: MetricUnit = .none, help: String, labels: Labels = [:],
    bounds: [Double], read: @escaping @Sendable () -> (counts: [UInt64], sum: Double)
  ) {
    var isNew = false
    _ = register(.histogram, name, unit, help, labels) {
      isNew = true
      return .readBuckets(bounds, read)
    }
    precondition(isNew, "\(name) with these labels is registered already")
  }

  /// A constant 1 whose labels say what this process is: `info("build", …)` for its version.
  public func info(_ name: String, help: String, labels: Labels) {
    _ = register(.info, name, .none, help, labels) { .info }
  }

  /// The whole exposition, in OpenMetrics 1.0 text.
  public func render() -> [UInt8] {
    // A copy, so that a gauge read at scrape time may itself register a metric.
    let snapshot = families.withLock { $0 }
    var text = TextBuffer()
    for family in snapshot { family.render(into: &text) }
    text.append("# EOF\n")
    return text.bytes
  }

  private func register(
    _ type: MetricFamily.Kind, _ name: String, _ unit: MetricUnit, _ help: String,
    _ labels: Labels, make: () -> MetricFamily.Instrument
  ) -> MetricFamily.Instrument {
    let unitSuffix = unit == .none ? "" : "_\(unit.rawValue)"
    let fullName = "\(namespace)_\(name)\(unitSuffix)"
    precondition(MetricFamily.isValidName(name), "\(name) is no metric name")
    return families.withLock { families in
      let at: Int
      if let found = families.firstIndex(where: { $0.name == fullName }) {
        at = found
      } else {
        at = families.count
        families.append(
          MetricFamily(
            name: fullName, kind: type, unit: unit.rawValue, help: help,
            labelNames: labels.map(\.key)))
      }
      let known = families[at]
      precondition(
        known.kind == type && known.help == help && known.labelNames == labels.map(\.key),
        "\(fullName) is registered with another type, help or set of labels")
      return families[at].instrument(labels: labels, make: make)
    }
  }
}

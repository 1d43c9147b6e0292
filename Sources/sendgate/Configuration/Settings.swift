/// Values by key with where each came from, before they are checked. Later sources win: default,
/// file, environment, `--set`.
struct Settings {
  struct Setting: Equatable {
    var value: String
    var origin: Origin
  }

  enum Origin: Equatable, CustomStringConvertible {
    case builtIn
    case file(name: String, line: Int)
    case environment(String)
    case flag

    var description: String {
      switch self {
      case .builtIn: "default"
      case .file(let name, let line): "line \(line) of \(name)"
      case .environment(let variable): variable
      case .flag: "--set"
      }
    }
  }

  private(set) var byKey: [String: Setting] = [:]
  /// Variables that look like settings and are none, with a hint. Told, not refused: Kubernetes sets
  /// `SENDGATE_SERVICE_HOST` and the like for a service of this name.
  private(set) var unknownVariables: [String] = []

  init(
    entries: [PropertiesFile.Entry], fileName: String, overrides: [String],
    environment: [String: String], hostName: String?
  ) throws(CommandFailure) {
    for key in ConfigurationKey.all {
      byKey[key.name] = Setting(value: key.defaultValue, origin: .builtIn)
    }
    byKey["instance.id"]!.value = hostName ?? ""
    for entry in entries {
      byKey[entry.key] = Setting(
        value: entry.value, origin: .file(name: fileName, line: entry.line))
    }
    take(environment)
    for override in overrides {
      guard let equals = override.firstIndex(of: "="), equals > override.startIndex else {
        throw .usage("--set wants KEY=VALUE")
      }
      byKey[String(override[..<equals])] = Setting(
        value: String(override[override.index(after: equals)...]), origin: .flag)
    }
  }

  /// Reads a file (nil: none) and what overrides it.
  static func load(
    file: String?, overrides: [String], environment: [String: String],
    hostName: String? = Process.hostName()
  ) throws(CommandFailure) -> Settings {
    var entries: [PropertiesFile.Entry] = []
    if let file {
      let bytes = try FileIO.read(file, bytesMax: PropertiesFile.bytesMax)
      entries = try PropertiesFile.parse(bytes, name: file)
    }
    return try Settings(
      entries: entries, fileName: file ?? "", overrides: overrides, environment: environment,
      hostName: hostName)
  }

  private mutating func take(_ environment: [String: String]) {
    let names = ConfigurationKey.all.map(\.environmentName)
    // An empty variable is what a compose file makes of one that is not set.
    for (variable, value) in environment where variable.hasPrefix("SENDGATE_") && !value.isEmpty {
      if variable == RunFlags.configVariable { continue }
      if let key = ConfigurationKey.all.first(where: { $0.environmentName == variable }) {
        byKey[key.name] = Setting(value: value, origin: .environment(variable))
      } else if let key = KafkaKeys.key(environmentName: variable) {
        byKey[key] = Setting(value: value, origin: .environment(variable))
      } else {
        unknownVariables.append(variable + CloseMatch.hint(for: variable, among: names))
      }
    }
    unknownVariables.sort()
  }

  /// Everything that is wrong with a key or with its value alone, each named with its value, its
  /// origin and what is wanted instead.
  func problems() -> [String] {
    var problems: [String] = []
    let names = ConfigurationKey.all.map(\.name)
    for (key, setting) in byKey.sorted(by: { $0.key < $1.key }) {
      if key.hasPrefix(KafkaKeys.prefix) {
        let name = String(key.dropFirst(KafkaKeys.prefix.count))
        if let problem = KafkaKeys.problem(name) {
          problems.append("\(key) (\(setting.origin)) \(problem)")
        } else if key == KafkaKeys.bootstrapServers, !setting.value.isEmpty,
          let problem = BrokerList.problem(setting.value)
        {
          problems.append(describe(key) + " \(problem)")
        }
      } else if let known = ConfigurationKey.all.first(where: { $0.name == key }) {
        if let problem = known.problem(setting.value) {
          problems.append(describe(key) + ": \(problem)")
        }
      } else {
        var hint = CloseMatch.hint(for: key, among: names + [KafkaKeys.bootstrapServers])
        if hint.isEmpty { hint = "; librdkafka's own properties are set under kafka." }
        problems.append("unknown key \(key) (\(setting.origin))\(hint)")
      }
    }
    if byKey[KafkaKeys.bootstrapServers]?.value.isEmpty ?? true {
      problems.append(
        "\(KafkaKeys.bootstrapServers) is missing: the brokers to start from, as"
          + " HOST:PORT[,HOST:PORT ...]")
    }
    return problems
  }

  /// Whether a setting of the preference service differs from its default. That a file states defaults,
  /// as the one that explains them does, is no sign that somebody runs it here.
  var wantsService: Bool {
    ConfigurationKey.service.contains { byKey[$0.name]?.value != $0.defaultValue }
  }

  /// `commit.interval.ms = 0 (--set)`, with secrets hidden.
  func describe(_ key: String) -> String {
    guard let setting = byKey[key] else { return "\(key) (librdkafka's default)" }
    return "\(key) = \(Secret.shown(setting.value, of: key)) (\(setting.origin))"
  }
}

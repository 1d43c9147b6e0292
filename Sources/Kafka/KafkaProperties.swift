import CKafka

/// A property that librdkafka refuses, or a set of them that do not go together.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The property's own name; nil where the whole set was refused.
  public let key: String?
  public let value: String?
  public let reason: String

  public var description: String {
    switch (key, value) {
    case (let key?, let value?): "\(key)=\(value): \(reason)"
    case (let key?, nil): "\(key): \(reason)"
    default: reason
    }
  }
}

/// librdkafka's properties, by librdkafka's names. Nothing is checked against a list of the gate's
/// own, so whatever the installed librdkafka understands can be set.
public struct KafkaProperties: Sendable, CustomStringConvertible {
  private var values: [String: String] = [:]

  public init(_ values: [String: String] = [:]) { self.values = values }

  public subscript(key: String) -> String? {
    get { values[key] }
    set { values[key] = newValue }
  }

  /// Sets what is not set yet: the gate's defaults, under what the operator chose.
  public mutating func setDefaults(_ defaults: [(key: String, value: String)]) {
    for (key, value) in defaults where values[key] == nil { values[key] = value }
  }

  /// Sets what the gate's guarantees depend on. Throws where the operator chose otherwise, rather
  /// than overrule in silence.
  public mutating func require(
    _ key: String, _ value: String, because reason: String
  ) throws(ConfigurationError) {
    if let chosen = values[key], chosen != value {
      throw ConfigurationError(key: key, value: chosen, reason: "must be \(value): \(reason)")
    }
    values[key] = value
  }

  public func merging(_ others: KafkaProperties) -> KafkaProperties {
    KafkaProperties(values.merging(others.values) { _, other in other })
  }

  /// Every property that is set, sorted, secrets hidden.
  public var description: String {
    values.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(Self.shown($0.value, of: $0.key))" }
      .joined(separator: " ")
  }

  /// Whether the installed librdkafka knows the property. There is no other way to ask.
  public static func isKnown(_ key: String, value: String) -> Bool {
    let conf = rd_kafka_conf_new()
    defer { rd_kafka_conf_destroy(conf) }
    return rd_kafka_conf_set(conf, key, value, nil, 0) != RD_KAFKA_CONF_UNKNOWN
  }

  /// `2.0.2`, the version that is linked now, not the one compiled against.
  public static var libraryVersion: String { String(cString: rd_kafka_version_str()) }

  public enum ClientKind: Sendable { case consumer, producer }

  /// Opens a client with these properties and closes it at once: there is no other way to have
  /// librdkafka judge a whole set. It may connect, and waits for nothing.
  public func check(_ kind: ClientKind) throws(ConfigurationError) {
    let handle = try KafkaHandle(KafkaHandle.type(of: kind), self, onEvent: { _ in })
    handle.close()
  }

  /// The caller owns what is returned.
  func makeConf() throws(ConfigurationError) -> OpaquePointer {
    let conf = rd_kafka_conf_new()!
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if let error = Self.set(conf, key, value) {
        rd_kafka_conf_destroy(conf)
        throw error
      }
    }
    return conf
  }

  private static func set(
    _ conf: OpaquePointer, _ key: String, _ value: String
  ) -> ConfigurationError? {
    let (result, text) = withErrorText { rd_kafka_conf_set(conf, key, value, $0, $1) }
    switch result {
    case RD_KAFKA_CONF_OK: return nil
    case RD_KAFKA_CONF_UNKNOWN:
      return ConfigurationError(
        key: key, value: nil, reason: "librdkafka \(libraryVersion) has no such property")
    default:
      // librdkafka's own words may repeat the value.
      let reason = isSecret(key) ? "librdkafka refuses the value" : text
      return ConfigurationError(key: key, value: shown(value, of: key), reason: reason)
    }
  }

  private static func shown(_ value: String, of key: String) -> String {
    isSecret(key) ? "[hidden]" : value
  }

  /// Whether a property's value must not be shown anywhere.
  public static func isSecret(_ key: String) -> Bool {
    ["password", "secret", ".pem", "oauthbearer.config", "jaas"].contains { key.contains($0) }
  }
}

/// Calls librdkafka with a buffer for its error text.
func withErrorText<Result>(
  _ body: (UnsafeMutablePointer<CChar>, Int) -> Result
) -> (Result, String) {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
    buffer.initialize(repeating: 0)
    let result = body(buffer.baseAddress!, buffer.count)
    return (result, String(cString: buffer.baseAddress!))
  }
}

/// The keys of the preference service.
extension ConfigurationKey {
  static let service: [ConfigurationKey] = [
    ConfigurationKey("serve.database.file", "", .optionalPath),
    ConfigurationKey("serve.android.package", "", .optionalText),
    ConfigurationKey("serve.address", "127.0.0.1:8085", .optionalAddress),
    ConfigurationKey("serve.tokens.file", "", .optionalPath),
    ConfigurationKey("serve.tls.certificate.file", "", .optionalPath),
    ConfigurationKey("serve.tls.key.file", "", .optionalPath),
    ConfigurationKey("serve.behind.proxy", "false", .boolean),
    ConfigurationKey("serve.threads", "0", .integer(0...256)),
    ConfigurationKey("serve.connections.max", "1024", .integer(2...65_536)),
    ConfigurationKey("serve.idle.seconds.max", "30", .integer(1...3_600)),
    ConfigurationKey("serve.header.bytes.max", "16384", .integer(4_096...131_072)),
    ConfigurationKey("serve.token.requests_per_second", "1000", .integer(1...1_000_000)),
    ConfigurationKey("serve.token.burst_max", "2000", .integer(1...1_000_000)),
    ConfigurationKey("serve.address.requests_per_second", "10", .integer(1...1_000_000)),
    ConfigurationKey("serve.address.burst_max", "50", .integer(1...1_000_000)),
    ConfigurationKey("serve.events.take.admin", "false", .boolean),
    ConfigurationKey("serve.readers", "4", .integer(1...64)),
    ConfigurationKey("serve.event_ids.kept.days", "30", .integer(1...3_650)),
    ConfigurationKey("serve.erasures.kept.days", "30", .integer(1...3_650)),
    ConfigurationKey("evidence.database", "", .optionalPath),
    ConfigurationKey("evidence.retention.days", "90", .integer(1...3_650)),
    ConfigurationKey("evidence.counts.kept.days", "400", .integer(1...3_650)),
  ]
}

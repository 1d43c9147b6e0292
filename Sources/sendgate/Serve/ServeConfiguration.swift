import Gate
import Preferences
import Web

/// Everything that an operator sets of `sendgate serve`, read and checked whole before it starts.
struct ServeConfiguration: Sendable {
  /// Shared with `sendgate run`: Kafka, names of topics, log, drain.
  let gate: GateConfiguration
  let store: StoreConfiguration
  let address: ListenAddress
  let tokensFile: String
  /// Nil: no TLS here.
  let certificateFiles: CertificateFiles?
  let threads: HTTPThreads
  /// Browsers reach this by TLS, here or at a proxy.
  let isSecure: Bool
  let http: HTTPLimits
  let access: Gatekeeper.Limits
  let intake: IntakeSettings
  let evidence: EvidenceConfiguration

  init(_ settings: Settings) throws(CommandFailure) {
    gate = try GateConfiguration(settings)
    var problems: [String] = []
    let store = StoreConfiguration(settings, problems: &problems)
    evidence = EvidenceConfiguration(settings, problems: &problems)
    problems += Self.problems(settings)
    guard problems.isEmpty, let store else {
      throw CommandFailure(
        ExitCode.configuration,
        "the configuration is wrong:\n  " + problems.joined(separator: "\n  "))
    }
    self.store = store
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    func integer(_ key: String) -> Int { Int(text(key))! }
    address = ListenAddress(text("serve.address"))!
    tokensFile = text("serve.tokens.file")
    let certificate = text("serve.tls.certificate.file")
    certificateFiles =
      certificate.isEmpty
      ? nil : CertificateFiles(certificate: certificate, key: text("serve.tls.key.file"))
    isSecure = certificateFiles != nil || text("serve.behind.proxy") == "true"
    threads = Self.threads(integer("serve.threads"))

    var http = HTTPLimits()
    http.connectionsMax = integer("serve.connections.max")
    http.idleSecondsMax = integer("serve.idle.seconds.max")
    http.connectionBytesMax = integer("serve.header.bytes.max")
    http.bodyBytesMax = PreferenceAPI.bodyBytesMax
    http.bodyDiscardBytesMax = PreferenceAPI.bodyBytesMax * 16
    // Requests are to be over before the rest of the process is told to end.
    http.drainMs = gate.drainTimeoutMs / 2
    self.http = http

    var access = Gatekeeper.Limits()
    access.perToken = RequestRate(
      perSecond: integer("serve.token.requests_per_second"),
      burst: integer("serve.token.burst_max"))
    access.perAddress = RequestRate(
      perSecond: integer("serve.address.requests_per_second"),
      burst: integer("serve.address.burst_max"))
    access.trustedProxies = TrustedProxies(text("serve.trusted.proxies"))!
    self.access = access

    var intake = IntakeSettings()
    intake.takesAdminEvents = text("serve.events.take.admin") == "true"
    self.intake = intake
  }

  private static func threads(_ count: Int) -> HTTPThreads {
    switch count {
    case 0: .perConnection
    case 1: .one
    default: .pool(count)
    }
  }

  /// Relations; every single value has been checked before.
  private static func problems(_ settings: Settings) -> [String] {
    var problems: [String] = []
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    if text("serve.tokens.file").isEmpty {
      problems.append(
        "serve.tokens.file is missing: who may come in; sendgate token new --file makes it")
    }
    let hasCertificate = !text("serve.tls.certificate.file").isEmpty
    if hasCertificate != !text("serve.tls.key.file").isEmpty {
      problems.append(
        "serve.tls.certificate.file and serve.tls.key.file are needed both, or neither")
    }
    guard let address = ListenAddress(text("serve.address")) else {
      return problems + ["serve.address is missing: where to listen, as 127.0.0.1:8085"]
    }
    if !address.isLoopback, !hasCertificate, text("serve.behind.proxy") != "true" {
      problems.append(
        "\(settings.describe("serve.address")) can be reached from other machines, and tokens would"
          + " pass in the clear: set serve.tls.certificate.file and serve.tls.key.file, or"
          + " serve.behind.proxy=true where a proxy in front does TLS")
    }
    let threads = threads(Int(text("serve.threads"))!)
    if case .pool(let count) = threads, Int(text("serve.connections.max"))! < 2 * count {
      problems.append(
        "\(settings.describe("serve.connections.max")) must be at least twice"
          + " \(settings.describe("serve.threads")): each thread has its share")
    }
    return problems
  }
}

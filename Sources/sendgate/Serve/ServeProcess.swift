import Evidence
import Gate
import Glibc
import Pipeline
import Preferences
import Telemetry
import Web

/// The preference service as a process: opens the store, serves it, watches its files, and ends in
/// order. The main thread does what is done now and then, and waits for nobody without a bound.
final class ServeProcess {
  private let configuration: ServeConfiguration
  private let log: Logger
  private let opened: OpenStore
  /// Nil: no evidence is indexed.
  private let evidence: EvidenceIndex?
  private let keeper: Gatekeeper
  /// Nil: no links are signed, and there are no pages behind them.
  private let links: LinkSettings?
  private let tokens: TokensWatcher
  private let desk: SupportDesk
  private let registry = MetricRegistry()
  private let mainBeat: Heartbeat
  private let clock = SystemClock()
  private var zonesCheckedAtMs: Int64 = 0
  private var filesCheckedAtMs: Int64 = 0
  private var hasToldForwarder = false
  private static let filesIntervalMs: Int64 = 1_000

  init(_ configuration: ServeConfiguration) throws(CommandFailure) {
    self.configuration = configuration
    log = configuration.gate.makeLogger()
    keeper = Gatekeeper(
      tokens: try TokensFile.read(configuration.tokensFile), limits: configuration.access)
    links = try configuration.gate.links()
    tokens = TokensWatcher(configuration.tokensFile, keeper, log)
    opened = try OpenStore(configuration.store)
    do throws(CommandFailure) {
      evidence = try ServedEvidence.open(configuration.evidence)
    } catch {
      opened.service.close()
      throw error
    }
    desk = opened.desk(evidence: evidence?.reader)
    mainBeat = Heartbeat(
      name: "main loop", intervalMsMax: Int64(configuration.gate.livenessTimeoutMs))
  }

  /// The exit code.
  func run() throws(CommandFailure) -> Int32 {
    configuration.gate.log(to: log)
    let kafka: PreferenceKafka
    let server: HTTPServer
    do throws(CommandFailure) {
      kafka = try PreferenceKafka(opened.service, configuration, log)
    } catch {
      close()
      throw error
    }
    ServeMetrics.register(opened, kafka, evidence, in: registry)
    do throws(CommandFailure) {
      if let evidence { try ServedEvidence.start(evidence, configuration.gate, log) }
      server = try startHTTP(kafka)
    } catch {
      kafka.stop()
      close()
      throw error
    }
    log.info(
      "The preference service starts",
      [
        "version": .string(String(describing: GateVersion.text)),
        "policy": .string(opened.policy.version),
        "database": .string(configuration.store.database.place),
        "http.host": .string(configuration.address.host), "http.port": .integer(server.port),
        "http.tls": .string(configuration.certificateFiles == nil ? "no" : "yes"),
      ])
    let upkeep = StoreUpkeep(opened.service, log: log)
    let counting = QuietMapThread(desk.quietMap, log)
    while true {
      if let signal = Signals.wait(ms: 100) {
        log.info("Ending", ["signal": .string(signal)])
        break
      }
      turn()
    }
    end(server, kafka, upkeep, counting)
    log.info("The preference service ended", ["exit.code": .integer(ExitCode.ok)])
    log.flush()
    return ExitCode.ok
  }

  private func close() {
    evidence?.close()
    opened.service.close()
  }

  private func startHTTP(_ kafka: PreferenceKafka) throws(CommandFailure) -> HTTPServer {
    let health = HealthSource(
      metrics: { [registry] in registry.render() }, heartbeats: [mainBeat],
      readiness: { [service = opened.service, evidence] in
        ServeMetrics.checks(service, kafka, evidence)
      })
    let api = PreferenceAPI(
      service: opened.service, policy: opened.policy, desk: desk, keeper: keeper, health: health,
      registry: registry, log: log)
    let console = Console(
      desk: desk, keeper: keeper, isSecure: configuration.isSecure, registry: registry, log: log)
    let pages = links.map { links in
      LinkPages(
        service: opened.service, keys: links.keys, keeper: keeper, registry: registry, log: log)
    }
    let certificate = try configuration.certificateFiles.map { (files) throws(CommandFailure) in
      try files.read()
    }
    do throws(HTTPServerError) {
      return try HTTPServer(
        address: configuration.address, limits: configuration.http,
        threads: configuration.threads, certificate: certificate,
        respond: {
          console.respond(to: $0) ?? pages?.respond(to: $0) ?? api.respond(to: $0)
        })
    } catch {
      throw CommandFailure(ExitCode.unavailable, "serve.address: \(error)")
    }
  }

  private func turn() {
    mainBeat.beat()
    let nowMs = clock.monotonicMs()
    if nowMs - filesCheckedAtMs >= Self.filesIntervalMs {
      filesCheckedAtMs = nowMs
      tokens.turn()
      checkForwarder()
    }
    if nowMs - zonesCheckedAtMs >= Int64(configuration.gate.zonesCheckIntervalMs) {
      zonesCheckedAtMs = nowMs
      checkZones()
    }
  }

  /// Told once: who connects directly may write the header too, and must not fill the log.
  private func checkForwarder() {
    guard !hasToldForwarder, let address = keeper.untrustedForwarder else { return }
    hasToldForwarder = true
    log.warning(
      "X-Forwarded-For is believed of serve.trusted.proxies alone: this proxy's visitors share a rate",
      ["client.address": .string("\(address)")])
  }

  private func checkZones() {
    guard opened.database.changed() else { return }
    do throws(TimeZoneDatabaseError) {
      try opened.database.load(into: opened.zones)
      log.info("Reloaded the time zones")
    } catch {
      log.error(
        "The tz database on disk is refused; the zones read before stay in use",
        ["reason": .string("\(error)")])
    }
  }

  /// Nobody new first, then those inside, then what they left to be written. A second signal leaves
  /// at once: what was answered is durable already.
  private func end(
    _ server: HTTPServer, _ kafka: PreferenceKafka, _ upkeep: StoreUpkeep,
    _ counting: QuietMapThread
  ) {
    let isOver = LaneControl()
    let ending = NamedThread(name: "ending") { [service = opened.service, evidence] in
      server.stop()
      kafka.stop()
      counting.stop()
      evidence?.close()
      upkeep.stop()
      service.close()
      isOver.ask(.drain)
    }
    while isOver.request == .none {
      guard let signal = Signals.wait(ms: 20) else { continue }
      log.warning("Leaving without waiting", ["signal": .string(signal)])
      log.flush()
      _exit(ExitCode.ok)
    }
    ending.join()
  }
}

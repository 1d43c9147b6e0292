import Evidence
import Preferences
import Testing
import Web

@testable import sendgate

private let needed = [
  "kafka.bootstrap.servers=localhost:9092", "serve.database.file=/tmp/p.db",
  "serve.android.package=com.example.app", "serve.tokens.file=/tmp/tokens",
]

private func load(_ overrides: [String], without key: String? = nil) throws -> ServeConfiguration {
  try ServeConfiguration(
    Settings.load(
      file: nil,
      overrides: needed.filter { setting in key.map { !setting.hasPrefix("\($0)=") } ?? true }
        + overrides, environment: [:], hostName: "host-1"))
}

private func problems(_ overrides: [String], without key: String? = nil) -> String {
  do {
    _ = try load(overrides, without: key)
    return ""
  } catch let failure as CommandFailure {
    #expect(failure.exitCode == 78)
    return failure.description
  } catch {
    return "\(error)"
  }
}

@Test func theServiceListensOnLoopbackUnlessToldOtherwise() throws {
  let configuration = try load([])
  #expect(configuration.address == ListenAddress("127.0.0.1:8085"))
  #expect(configuration.threads == .perConnection)
  #expect(configuration.certificateFiles == nil)
  #expect(configuration.http.bodyBytesMax == 65_536)
  #expect(configuration.access.perToken == RequestRate(perSecond: 1_000, burst: 2_000))
  #expect(configuration.access.perAddress == RequestRate(perSecond: 10, burst: 50))
  #expect(configuration.access.trustedProxies == TrustedProxies())
  #expect(configuration.store.store.eventIDsKeptMs == 30 * 86_400_000)
}

@Test func anAddressOthersReachNeedsTLS() throws {
  for address in ["0.0.0.0:8085", "10.0.0.1:8085", "[::]:8085"] {
    let told = problems(["serve.address=\(address)"])
    #expect(told.contains("serve.address = \(address) (--set) can be reached"), "\(told)")
    #expect(told.contains("serve.behind.proxy=true"))
    let behind = try load(["serve.address=\(address)", "serve.behind.proxy=true"])
    // Who does TLS says nothing of whose headers are believed.
    #expect(behind.access.trustedProxies == TrustedProxies())
    let tls = try load([
      "serve.address=\(address)", "serve.tls.certificate.file=/c", "serve.tls.key.file=/k",
    ])
    #expect(tls.certificateFiles?.key == "/k")
  }
  for address in ["127.1.2.3:1", "[::1]:8085", ":8085"] {
    _ = try load(["serve.address=\(address)"])
  }
}

@Test(arguments: [
  ("serve.database.file", "serve.database.file is missing"),
  ("serve.android.package", "serve.android.package is missing"),
  ("serve.tokens.file", "serve.tokens.file is missing"),
])
func whatIsNeededIsNamed(key: String, complaint: String) {
  #expect(problems([], without: key).contains(complaint))
  #expect(problems(["\(key)="]).contains(complaint))
}

@Test(arguments: [
  ("serve.android.package=example", "wants a package name"),
  ("serve.android.package=com.example.app;end", "wants a package name"),
  ("serve.tls.key.file=/k", "are needed both, or neither"),
  ("serve.tls.certificate.file=/c", "are needed both, or neither"),
  ("serve.address=", "serve.address is missing"),
  ("serve.address=localhost:80", "serve.address = localhost:80 (--set): wants ADDRESS:PORT"),
  ("serve.threads=-1", "wants a whole number from 0 to 256"),
  ("serve.connections.max=1", "wants a whole number from 2 to 65536"),
  ("serve.header.bytes.max=100", "wants a whole number from 4096 to 131072"),
  ("serve.token.burst_max=0", "wants a whole number from 1 to 1000000"),
  ("serve.event_ids.kept.days=0", "wants a whole number from 1 to 3650"),
  ("serve.behind.proxy=yes", "wants true or false"),
  (
    "serve.trusted.proxies=10.0.0.1/8",
    "serve.trusted.proxies = 10.0.0.1/8 (--set): wants at most 256"
  ),
  ("evidence.database=/tmp/p.db", "evidence is kept in a file of its own"),
  ("evidence.retention.days=0", "wants a whole number from 1 to 3650"),
  ("serve.tokens=x", "unknown key serve.tokens (--set)"),
])
func whatIsWrongIsNamedWithItsBound(setting: String, complaint: String) {
  let told = problems([setting])
  #expect(told.contains(complaint), "\(told)")
}

@Test func proxiesAreTrustedByName() throws {
  let configuration = try load(["serve.trusted.proxies=127.0.0.1, 10.0.0.0/8"])
  #expect(configuration.access.trustedProxies == TrustedProxies("127.0.0.1,10.0.0.0/8"))
}

@Test func threadsHaveTheirShareOfTheConnections() throws {
  #expect(try load(["serve.threads=1"]).threads == .one)
  #expect(try load(["serve.threads=8", "serve.connections.max=16"]).threads == .pool(8))
  let told = problems(["serve.threads=8", "serve.connections.max=15"])
  #expect(told.contains("serve.connections.max = 15 (--set) must be at least twice"), "\(told)")
}

@Test func evidenceIsIndexedWhereItHasAFile() throws {
  #expect(try load([]).evidence.database == nil)
  let evidence = try load(["evidence.database=/tmp/e.db", "evidence.retention.days=7"]).evidence
  #expect(evidence.database == .sqlite(path: "/tmp/e.db"))
  #expect(evidence.index.retentionMs == 7 * 86_400_000)
  #expect(evidence.index.countsKeptMs == 400 * 86_400_000)
}

@Test func everythingThatIsWrongIsToldAtOnce() {
  let told = problems(
    ["serve.database.file=", "serve.tls.key.file=/k", "serve.address=10.0.0.1:1"],
    without: "serve.tokens.file")
  #expect(told.split(separator: "\n").count == 5, "\(told)")
}

@Test func preferencesAreKeptInAFileOrByAServer() throws {
  let server = "postgresql://me:hunter2@db.example/prefs"
  let configuration = try load(
    ["serve.database.postgres=\(server)"], without: "serve.database.file")
  #expect(
    configuration.store.database.place == "postgresql db.example, database prefs")
  let both = problems(["serve.database.postgres=\(server)"])
  #expect(
    both.contains(
      "serve.database.file = /tmp/p.db (--set) and serve.database.postgres = <hidden> (--set)"))
  let wrong = problems(
    ["serve.database.postgres=me:hunter2@db.example"], without: "serve.database.file")
  #expect(wrong.contains("serve.database.postgres = <hidden> (--set) cannot be read"), "\(wrong)")
  for told in [both, wrong] { #expect(!told.contains("hunter2"), "\(told)") }
  let timeout = problems(["serve.database.timeout.ms=999"])
  #expect(timeout.contains("wants a whole number from 1000 to 600000"), "\(timeout)")
}

/// What the gate reads is not asked of the service's settings, and the other way round.
@Test func theGateNeedsNoneOfTheServicesSettings() throws {
  _ = try GateConfiguration.load(
    file: nil, overrides: ["kafka.bootstrap.servers=localhost:9092"], environment: [:],
    hostName: "h")
}

import Foundation
import Preferences
import Testing
import Web

@testable import sendgate

/// A folder with everything that `serve` reads, in order, and `check` over it.
private struct Service {
  let folder: String
  var settings: [String: String]

  init(_ folder: String) throws {
    self.folder = folder
    settings = [
      "kafka.bootstrap.servers": "127.0.0.1:1", "log.level": "error",
      "serve.database.file": "\(folder)/p.db", "serve.android.package": "com.example.app",
      "serve.tokens.file": "\(folder)/tokens",
    ]
    try write("tokens", TokenTable.line(id: "web", role: .app, token: "x") + "\n")
  }

  func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
    let path = "\(folder)/\(name)"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  func check(_ words: [String] = []) -> (code: Int32, error: String) {
    let set = settings.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
    let told = dispatch(["check"] + set + words)
    return (told.code, told.error)
  }
}

private func withService(_ body: (inout Service) throws -> Void) throws {
  try withFolder { folder in
    var service = try Service(folder)
    try body(&service)
  }
}

@Test func aServiceInOrderIsGood() throws {
  try withService { service in
    #expect(service.check() == (0, ""))
    // Nothing was made on the way.
    let left = try FileManager.default.contentsOfDirectory(atPath: service.folder)
    #expect(left == ["tokens"])
    // An empty file is a database that nothing was written to.
    try service.write("p.db", "")
    #expect(service.check().code == 0)
    try service.write("p.db", "SQLite format 3\0 and so on")
    #expect(service.check().code == 0)
  }
}

@Test(arguments: [
  ("serve.android.package", "example", 78, "wants a package name"),
  ("serve.tokens.file", "", 78, "serve.tokens.file is missing"),
  ("serve.tokens.file", "/nonexistent/tokens", 66, "/nonexistent/tokens: No such file"),
  (
    "serve.database.file", "/nonexistent/p.db", 73,
    "serve.database.file /nonexistent/p.db: its folder"
  ),
  ("serve.tls.key.file", "/k", 78, "are needed both, or neither"),
  ("serve.address", "10.0.0.1:1", 78, "tokens would pass in the clear"),
  ("serve.threads", "1000", 78, "wants a whole number from 0 to 256"),
  ("kafka.message.timeout.ms", "500", 78, "the outbox waits for as long as the broker is away"),
])
func whatServeWouldRefuseIsToldByCheck(
  key: String, value: String, code: Int32, complaint: String
) throws {
  try withService { service in
    service.settings[key] = value
    let told = service.check()
    #expect(told.code == code, "\(told.error)")
    #expect(told.error.contains(complaint), "\(told.error)")
  }
}

@Test func filesAreHeldAgainstTheirModesAndContents() throws {
  try withService { service in
    try service.write("tokens", "web app\n")
    #expect(service.check().error.contains("line 1: wants a name, a role and a hash"))
    try service.write("tokens", "", mode: 0o620)
    #expect(service.check().error.contains("chmod go-w"))
    #expect(service.check().code == 78)
    try service.write("tokens", "", mode: 0o644)
    #expect(service.check().code == 0)

    try service.write("p.db", "what is this?")
    #expect(
      service.check() == (
        65,
        "sendgate check: serve.database.file \(service.folder)/p.db: this is no SQLite database\n"
      ))
    try service.write("p.db", "")

    service.settings["serve.tls.certificate.file"] = "\(service.folder)/cert"
    service.settings["serve.tls.key.file"] = "\(service.folder)/key"
    #expect(service.check().code == 66)
    try service.write("cert", "-----BEGIN CERTIFICATE-----\n")
    try service.write("key", "-----BEGIN PRIVATE KEY-----\n", mode: 0o640)
    #expect(service.check().error.contains("chmod 600"))
    try service.write("key", "a key")
    #expect(
      service.check().error.contains("serve.tls.key.file \(service.folder)/key is no PEM file"))
    try service.write("key", "-----BEGIN PRIVATE KEY-----\n")
    #expect(service.check().code == 0)
  }
}

/// A machine that only runs the gate has none of the service's files, and the other way round.
@Test func eachIsLookedAtAloneWhereThatIsAsked() throws {
  try withService { service in
    service.settings["serve.tokens.file"] = "/nonexistent/tokens"
    #expect(service.check().code == 66)
    #expect(service.check(["--for", "run"]).code == 0)
    #expect(service.check(["--for", "serve"]).code == 66)
    #expect(service.check(["--for", "both"]).code == 64)

    service.settings["serve.tokens.file"] = "\(service.folder)/tokens"
    service.settings["hash.key.file"] = "\(service.folder)/hash"
    try service.write("hash", "no key")
    #expect(service.check(["--for", "run"]).code == 78)
    #expect(service.check(["--for", "serve"]).code == 0)
  }
}

/// The file that explains every key states the defaults of `serve` too, and asks for nothing by that.
@Test func aFileOfDefaultsAsksForNoService() {
  let file = "\(repositoryRoot)/deploy/sendgate.properties"
  #expect(dispatch(["check", "--config", file]).code == 0)
  let told = dispatch(["check", "--config", file, "--for", "serve"])
  #expect(told.code == 78)
  #expect(told.error.contains("serve.database.file is missing"), "\(told.error)")
}

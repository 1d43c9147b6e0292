import Evidence
import Gate
import Preferences
import Telemetry

@testable import Web

/// The console over a store and an index of its own, without a socket, and a browser's memory.
final class ConsoleWorld {
  let api: APIWorld
  let console: Console
  let registry = MetricRegistry()
  var evidence: MemoryEvidence { api.evidence }
  /// What the browser sends along; nil: nobody is signed in.
  var cookie: String?

  init(_ api: APIWorld, desk: SupportDesk? = nil, isSecure: Bool = false) {
    self.api = api
    console = Console(
      desk: desk ?? api.desk, keeper: api.keeper, isSecure: isSecure, registry: registry,
      log: Logger(format: .json, sink: { _ in }))
  }

  var nowMs: Int64 { api.clock.read() }

  func ask(
    _ method: String, _ path: String, form: String? = nil, headers: [HTTPField] = []
  ) -> APIWorld.Reply {
    api.clock.advance(ms: 5)
    let parts = path.split(separator: "#")[0].split(separator: "?", maxSplits: 1)
    let arguments = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { argument in
      let pair = argument.split(separator: "=", maxSplits: 1)
      return (name: String(pair[0]), value: pair.count == 2 ? String(pair[1]) : nil)
    }
    var sent = headers
    if form != nil {
      sent.append(HTTPField("Content-Type", "application/x-www-form-urlencoded"))
    }
    if let cookie { sent.append(HTTPField("Cookie", cookie)) }
    let answer = console.respond(
      to: HTTPRequest(
        method: method, path: String(parts[0]), arguments: arguments, headers: sent,
        body: form.map { .whole(Array($0.utf8)) } ?? .none))!
    return APIWorld.Reply(
      status: answer.status, body: String(decoding: answer.body, as: UTF8.self),
      headers: answer.headers)
  }

  func get(_ path: String) -> APIWorld.Reply { ask("GET", path) }

  /// Signs in and keeps the cookie, where one is set.
  @discardableResult
  func signIn(_ role: Role = .support, next: String = "") -> APIWorld.Reply {
    let reply = ask(
      "POST", "/console/login", form: "token=\(api.token(role))&next=\(PercentText.encode(next))")
    if let set = reply.header("Set-Cookie") { cookie = String(set.prefix { $0 != ";" }) }
    return reply
  }

  func device(_ id: String = "d-1", of user: String = "u-1", region: String = "DE") {
    api.clock.advance(ms: 5)
    let reply = api.ask(
      "PUT", "/v1/users/\(user)/devices/\(id)", .app,
      body: """
        {"platform":"ios","os_permission":"granted","region":"\(region)",\
        "timezone":"Europe/Berlin"}
        """)
    precondition(reply.status == 200, reply.body)
  }
}

/// Signed in as support, with a user `u-1` who has a device `d-1`.
func withConsole(_ body: (ConsoleWorld) throws -> Void) throws {
  try withAPI(limits: PagesWorld.plenty) { api in
    let world = ConsoleWorld(api)
    world.device()
    world.signIn()
    try body(world)
  }
}

import Gate
import Preferences
import Telemetry

@testable import Web

/// The pages over a store of their own, without a socket, and signed links for them.
struct PagesWorld {
  let api: APIWorld
  let pages: LinkPages
  let keys: LinkKeys
  let registry = MetricRegistry()

  init(_ api: APIWorld, limits: Gatekeeper.Limits = plenty) throws {
    self.api = api
    keys = LinkKeys(secrets: [7: [UInt8](repeating: 7, count: LinkKeys.secretBytes)], signingID: 7)
    pages = LinkPages(
      service: api.service, keys: keys,
      keeper: Gatekeeper(tokens: try TokenTable(parsing: ""), limits: limits), registry: registry,
      log: Logger(format: .json, sink: { _ in }), nowMs: api.clock.read)
  }

  /// Tests are many requests of one address.
  static let plenty: Gatekeeper.Limits = {
    var limits = Gatekeeper.Limits()
    limits.perAddress = RequestRate(perSecond: 1_000_000, burst: 1_000_000)
    return limits
  }()

  func token(
    _ purpose: LinkPurpose = .unsubscribe, _ category: Category? = .marketing,
    user: String = "u-1", keys: LinkKeys? = nil, livesSeconds: Int64 = 600
  ) -> String {
    LinkWriter(keys ?? self.keys).token(
      Link(
        purpose: purpose, category: category, userID: user, notificationID: "n-1",
        expiresAtSeconds: api.clock.read() / 1_000 + livesSeconds))
  }

  /// The clock moves with each request, as it does with people.
  func ask(
    _ method: String, _ path: String, body: String? = nil,
    type: String = "application/x-www-form-urlencoded", headers: [HTTPField] = []
  ) -> APIWorld.Reply {
    api.clock.advance(ms: 5)
    let parts = path.split(separator: "?", maxSplits: 1)
    let arguments = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { argument in
      let pair = argument.split(separator: "=", maxSplits: 1)
      return (name: String(pair[0]), value: pair.count == 2 ? String(pair[1]) : nil)
    }
    var sent = headers
    if body != nil { sent.append(HTTPField("Content-Type", type)) }
    let answer = pages.respond(
      to: HTTPRequest(
        method: method, path: String(parts[0]), arguments: arguments, headers: sent,
        body: body.map { .whole(Array($0.utf8)) } ?? .none))!
    return APIWorld.Reply(
      status: answer.status, body: String(decoding: answer.body, as: UTF8.self),
      headers: answer.headers)
  }

  /// As long as nothing is written this stays the same.
  func everything() -> String {
    api.ask("GET", "/v1/users/u-1/preferences").body + api.ask("GET", "/v1/users/u-1/audit").body
  }

  func rows() -> Int {
    api.ask("GET", "/v1/users/u-1/audit").body.split(separator: "\"sequence\"").count - 1
  }

  /// What is kept of the user; nil: nothing.
  var user: UserPreferences? {
    do {
      return try api.service.user(Identifier("u-1"))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Of the account.
  func choice(_ category: Category) -> Choice {
    user?.account.choices[category]?.state ?? .unset
  }

  func device(_ id: String = "d-1", permission: String = "granted", platform: String = "android") {
    let body =
      #"{"platform":"\#(platform)","os_permission":"\#(permission)","region":"DE"}"#
    let reply = api.ask("PUT", "/v1/users/u-1/devices/\(id)", .app, body: body)
    precondition(reply.status == 200, reply.body)
  }

  func choose(_ category: String, _ state: String, device: String? = nil) {
    api.clock.advance(ms: 5)
    let of = device.map { #","device_id":"\#($0)""# } ?? ""
    let reply = api.ask(
      "PUT", "/v1/users/u-1/choices/\(category)", .app,
      body: #"{"state":"\#(state)","source":"in_app_settings"\#(of)}"#)
    precondition(reply.status == 200, reply.body)
  }
}

extension APIWorld.Reply {
  /// What stands behind `before` up to the next quote; nil where it is not there.
  func value(after before: String) -> String? {
    guard let range = body.firstRange(of: before) else { return nil }
    return String(body[range.upperBound...].prefix { $0 != "\"" })
  }

  /// Where the first form of the page posts to.
  var formToken: String? {
    value(after: "method=\"post\" action=\"").map { String($0.prefix { $0 != "?" }) }
  }
  var once: String? { value(after: "name=\"once\" value=\"") }
}

func withPages(_ body: (PagesWorld) throws -> Void) throws {
  try withAPI { api in
    let world = try PagesWorld(api)
    world.device()
    try body(world)
  }
}

import Glibc
import Preferences
import Testing

@testable import Web

/// The lines of deploy/contracts/openapi.yaml that say what is served to whom; read by their shape,
/// which the contract checks hold to OpenAPI's.
private func contractOperations() throws -> [String: String] {
  let world = try APIWorld()
  defer { world.close() }
  let text = world.ask("GET", "/v1/openapi.yaml", nil).body
  var operations: [String: String] = [:]
  var path = ""
  var method = ""
  for line in text.split(separator: "\n") {
    if line.hasPrefix("components:") { break }
    if line.hasPrefix("  /"), line.hasSuffix(":") {
      path = String(line.dropFirst(2).dropLast())
    } else if ["get", "put", "post", "delete"].contains(where: { line == "    \($0):" }) {
      method = line.dropFirst(4).dropLast().uppercased()
      operations["\(method) \(path)"] = "none"
    } else if line.hasPrefix("      x-roles: [") {
      operations["\(method) \(path)"] = String(line.dropFirst(16).dropLast())
    } else if line == "      security: []" {
      operations["\(method) \(path)"] = "open"
    }
  }
  return operations
}

@Test func whatIsServedIsWhatTheContractSays() throws {
  try withAPI { world in
    var served: [String: String] = [:]
    for operation in world.api.operations {
      served["\(operation.method) \(operation.template)"] =
        operation.roles?.map(\.rawValue).joined(separator: ", ") ?? "open"
    }
    #expect(served.count > 20)
    let promised = try contractOperations()
    #expect(promised == served)
  }
}

@Test func everyOperationAsksForItsTokenAndItsRole() throws {
  try withAPI { world in
    for operation in world.api.operations {
      let path = operation.template.replacing("{user_id}", with: "u")
        .replacing("{device_id}", with: "d").replacing("{category}", with: "social")
        .replacing("{suppression}", with: "bounced")
      let name = "\(operation.method) \(path)"
      guard let roles = operation.roles else {
        #expect(world.ask(operation.method, path, nil).status == 200, "\(name)")
        continue
      }
      let anonymous = world.ask(operation.method, path, nil)
      #expect(anonymous.status == 401, "\(name)")
      #expect(anonymous.header("WWW-Authenticate") == "Bearer realm=\"sendgate\"")
      for role in Role.allCases {
        let status = world.ask(operation.method, path, role).status
        #expect((status == 403) == !roles.contains(role), "\(name) \(role) \(status)")
        #expect(status != 401 && status < 500, "\(name)")
      }
    }
  }
}

@Test func otherPathsAndMethodsAreToldApart() throws {
  try withAPI { world in
    #expect(world.ask("GET", "/v1/nothing").code == "no_such_path")
    let other = world.ask("PATCH", "/v1/users/u/preferences")
    #expect(other.status == 405)
    #expect(other.header("Allow") == "GET, HEAD, OPTIONS")
    let options = world.ask("OPTIONS", "/v1/users/u/devices/d", nil)
    #expect(options.status == 204)
    #expect(options.header("Allow") == "PUT, DELETE, OPTIONS")
    #expect(world.ask("HEAD", "/healthz", nil).status == 200)
    #expect(world.ask("GET", "/healthz?verbos", nil).code == "unknown_argument")
  }
}

@Test func whoAsksTooOftenIsToldWhenToComeAgain() throws {
  var limits = Gatekeeper.Limits()
  limits.perToken = RequestRate(perSecond: 1, burst: 2)
  limits.perAddress = RequestRate(perSecond: 1, burst: 2)
  try withAPI(limits: limits) { world in
    for role in [Role.app, nil] {
      let path = role == nil ? "/healthz" : "/v1/defaults"
      #expect(world.ask("GET", path, role).status == 200)
      #expect(world.ask("GET", path, role).status == 200)
      let refused = world.ask("GET", path, role)
      #expect(refused.status == 429)
      #expect(refused.header("Retry-After") == "1")
    }
    #expect(world.ask("GET", "/v1/defaults", .admin).status == 200, "another token")
  }
}

@Test func aStoreThatIsGoneIsAnAnswerAndNoCrash() throws {
  let world = try APIWorld()
  world.close()
  for (method, path, body) in [
    ("GET", "/v1/users/u/preferences", nil), ("GET", "/v1/users/u/audit", nil),
    ("PUT", "/v1/users/u/choices/social", #"{"state":"user-on","source":"in_app_settings"}"#),
    ("DELETE", "/v1/users/u", nil),
  ] as [(String, String, String?)] {
    let answer = world.ask(method, path, body: body)
    #expect(answer.status == 503, "\(method) \(path)")
    #expect(answer.header("Retry-After") == "1")
    #expect(!answer.body.contains("/tmp"))
  }
}

@Test func metricsCountByOperationAndNotByWhatClientsSend() throws {
  try withAPI { world in
    for id in ["a", "b", "c"] { _ = world.ask("GET", "/v1/users/\(id)/preferences") }
    _ = world.ask("GET", "/x")
    _ = world.ask("BREW", "/healthz")
    let page = world.ask("GET", "/metrics", .support).body
    #expect(
      page.contains(
        #"sendgate_http_requests_total{method="GET",route="/v1/users/{user_id}/preferences",status="4xx"} 3"#
      ))
    #expect(
      page.contains(#"sendgate_http_requests_total{method="none",route="none",status="4xx"} 2"#))
    #expect(!page.contains("BREW"))
    #expect(page.hasSuffix("# EOF\n"))
  }
}

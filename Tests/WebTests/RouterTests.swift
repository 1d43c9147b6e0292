import Testing

@testable import Web

private func router() -> Router<String> {
  var router = Router<String>()
  router.add("GET", "/v1/users/{user_id}", "read")
  router.add("DELETE", "/v1/users/{user_id}", "erase")
  router.add("POST", "/v1/users/{user_id}/events", "event")
  router.add("GET", "/v1/users/{user_id}/devices/{device_id}/settings", "settings")
  router.add("GET", "/healthz", "health")
  return router
}

private func found(_ method: String, _ path: String) -> (String, PathValues)? {
  if case .found(let endpoint, let values) = router().match(method, path) {
    return (endpoint, values)
  }
  return nil
}

@Test func pathsLeadByTheirTemplates() {
  #expect(found("GET", "/v1/users/u-1")?.0 == "read")
  #expect(found("HEAD", "/v1/users/u-1")?.0 == "read", "HEAD is served as GET is")
  #expect(found("DELETE", "/v1/users/u-1")?.0 == "erase")
  #expect(found("POST", "/v1/users/u-1/events")?.0 == "event")
  let settings = found("GET", "/v1/users/u-1/devices/d-2/settings")
  #expect(settings?.0 == "settings")
  #expect(settings?.1["user_id"] == "u-1")
  #expect(settings?.1["device_id"] == "d-2")
}

/// The path is split first and decoded afterwards: an id may have a slash in it.
@Test(arguments: [
  ("a%2Fb", "a/b"), ("%61", "a"), ("a%20b", "a b"), ("a+b", "a+b"), ("..", ".."), ("%2e%2E", ".."),
  ("%E6%B0%B4", "水"), ("水", "水"), ("%00", "\0"), ("a:b@c;d=e&f", "a:b@c;d=e&f"), ("%25", "%"),
])
func anIDIsDecodedOnce(raw: String, id: String) {
  #expect(found("GET", "/v1/users/\(raw)")?.1["user_id"] == id)
}

@Test(arguments: ["%", "%2", "%zz", "a%", "%ff", "%C3", "%ED%A0%80", "%C0%AF", "%2g", "%+1"])
func aBrokenEscapeIsMalformed(raw: String) {
  guard case .malformed = router().match("GET", "/v1/users/\(raw)") else {
    Issue.record("\(raw) was taken")
    return
  }
}

@Test(arguments: [
  "", "/", "v1/users/u", "/v1/users", "/v1/users/", "/v1/users//events", "/v1/users/u/",
  "//healthz",
  "/healthz/", "/Healthz", "/v1/users/u/x", "/v1/users/u/devices//settings", "*",
])
func otherPathsAreNotFound(path: String) {
  guard case .notFound = router().match("GET", path) else {
    Issue.record("\(path) was found")
    return
  }
}

@Test func otherMethodsAreToldWhatIsServed() {
  for (method, path, allow) in [
    ("PUT", "/v1/users/u", "GET, HEAD, DELETE, OPTIONS"), ("get", "/healthz", "GET, HEAD, OPTIONS"),
    ("GET", "/v1/users/u/events", "POST, OPTIONS"), ("HEAD", "/v1/users/u/events", "POST, OPTIONS"),
    ("", "/healthz", "GET, HEAD, OPTIONS"), ("TRACE", "/healthz", "GET, HEAD, OPTIONS"),
  ] {
    guard case .otherMethods(let told) = router().match(method, path) else {
      Issue.record("\(method) \(path)")
      continue
    }
    #expect(told == allow)
  }
  for (path, allow) in [("/v1/users/u", "GET, HEAD, DELETE, OPTIONS"), ("*", "OPTIONS")] {
    guard case .options(let told) = router().match("OPTIONS", path) else {
      Issue.record("\(path)")
      continue
    }
    #expect(told == allow)
  }
}

@Test func theTableNamesEveryEndpoint() {
  #expect(
    router().table.map { "\($0.method) \($0.template)" } == [
      "GET /v1/users/{user_id}", "DELETE /v1/users/{user_id}", "POST /v1/users/{user_id}/events",
      "GET /v1/users/{user_id}/devices/{device_id}/settings", "GET /healthz",
    ])
}

@Test(arguments: [
  ("*", EntityTag.Condition.any), (" * ", .any),
  ("\"17\"", .tags([.init(text: "17", isWeak: false)])),
  ("W/\"17\"", .tags([.init(text: "17", isWeak: true)])),
  (
    "\"1\", W/\"2\" ,\t\"a,b\"",
    .tags([
      .init(text: "1", isWeak: false), .init(text: "2", isWeak: true),
      .init(text: "a,b", isWeak: false),
    ])
  ),
  ("\"\"", .tags([.init(text: "", isWeak: false)])),
])
func entityTagsAreRead(text: String, condition: EntityTag.Condition) {
  #expect(EntityTag.parse(text) == condition)
}

@Test(arguments: [
  "", " ", ",", "17", "\"17", "17\"", "*,\"1\"", "\"1\"\"2\"", "w/\"1\"", "\"1\" x",
])
func whatIsNoListOfTagsIsRefused(text: String) {
  #expect(EntityTag.parse(text) == nil)
  #expect(throws: Problem.self) {
    try EntityTag.condition(
      "If-Match",
      of: HTTPRequest(method: "PUT", path: "/", headers: [HTTPField("if-match", text)]))
  }
}

@Test func aVersionMatchesItsTag() {
  let strong = EntityTag.parse("\"16\", \"17\"")!
  let weak = EntityTag.parse("W/\"17\"")!
  #expect(EntityTag.text(version: 17) == "\"17\"")
  #expect(strong.matchesStrongly(version: 17) && strong.matchesWeakly(version: 17))
  #expect(!strong.matchesStrongly(version: 18) && !strong.matchesWeakly(version: 18))
  #expect(!weak.matchesStrongly(version: 17), "RFC 9110: If-Match compares strongly")
  #expect(weak.matchesWeakly(version: 17))
  #expect(EntityTag.Condition.any.matchesStrongly(version: 1))
  #expect(!EntityTag.Condition.any.matchesStrongly(version: nil), "* is what exists")
  #expect(!strong.matchesStrongly(version: nil))
}

@Test func problemsAreOneJSONObject() {
  let problem = Problem(
    412, "version_changed", "a \"quote\", a \\ and a \u{1}", headers: [HTTPField("ETag", "\"3\"")])
  let response = problem.response
  #expect(response.status == 412)
  #expect(response.header("content-type") == "application/problem+json")
  #expect(response.header("etag") == "\"3\"")
  #expect(
    String(decoding: response.body, as: UTF8.self)
      == #"{"type":"about:blank","title":"Precondition Failed","status":412,"#
      + #""code":"version_changed","detail":"a \"quote\", a \\ and a \u0001"}"#)
}

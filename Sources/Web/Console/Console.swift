import Evidence
import Gate
import Preferences
import Telemetry

/// The support console: pages under `/console` for the roles `support` and `admin`. They show and
/// change nothing; without a session there is the page to sign in, and no other.
public struct Console: Sendable {
  private let desk: SupportDesk
  private let keeper: Gatekeeper
  private let sessions = ConsoleSessions()
  private let cookie: ConsoleCookie
  private let metrics: ConsoleMetrics
  private let log: Logger
  private var nowMs: @Sendable () -> Int64 { desk.nowMs }

  /// - Parameter isSecure: browsers reach this by TLS, here or at a proxy.
  public init(
    desk: SupportDesk, keeper: Gatekeeper, isSecure: Bool, registry: MetricRegistry, log: Logger
  ) {
    self.desk = desk
    self.keeper = keeper
    self.log = log
    cookie = ConsoleCookie(isSecure: isSecure)
    metrics = ConsoleMetrics(registry)
  }

  /// Nil where the path is not the console's.
  public func respond(to request: HTTPRequest) -> HTTPResponse? {
    guard request.path == "/console" || request.path.hasPrefix("/console/") else { return nil }
    var visit = Visit(request)
    do throws(Problem) {
      return try answer(&visit)
    } catch {
      return answer(error, visit)
    }
  }

  private struct Visit {
    var request: HTTPRequest
    var language: PageLanguage
    /// Nil where the path has a broken escape.
    var path: [String]?
    var arguments: [String: String] = [:]
    var bearer: TokenTable.Entry?
    var index: IndexState?

    init(_ request: HTTPRequest) {
      self.request = request
      language = PageLanguage.of(request)
      var parts: [String] = []
      for raw in request.path.dropFirst().split(separator: "/").dropFirst() {
        guard let part = PercentText.decode(raw) else { return }
        parts.append(part)
      }
      path = parts
      for argument in request.arguments {
        guard let name = PercentText.decode(argument.name),
          let value = PercentText.decode(argument.value ?? "")
        else { continue }
        arguments[name] = value
      }
    }

    /// This address again, in whatever language.
    var here: String {
      let others = arguments.filter { $0.key != "lang" }.sorted { $0.key < $1.key }
        .map { "\(PercentText.encode($0.key))=\(PercentText.encode($0.value))" }.joined(
          separator: "&")
      return others.isEmpty ? request.path : "\(request.path)?\(others)"
    }

    var isRead: Bool { request.method == "GET" || request.method == "HEAD" }
  }

  // MARK: Ways

  private func answer(_ visit: inout Visit) throws(Problem) -> HTTPResponse {
    guard let path = visit.path else { throw Problem(400, "malformed_path", "") }
    let takesForm = path == ["login"] || path == ["logout"]
    let allow = HTTPField("Allow", takesForm ? "POST, OPTIONS" : "GET, HEAD, OPTIONS")
    if visit.request.method == "OPTIONS" { return HTTPResponse(status: 204, headers: [allow]) }
    guard takesForm ? visit.request.method == "POST" : visit.isRead else {
      throw Problem(405, "method_not_allowed", "", headers: [allow])
    }
    if visit.request.body == .ambiguous { throw Problem(400, "ambiguous_length", "") }
    if takesForm {
      try checkOrigin(visit.request)
      return path == ["login"] ? try signIn(visit) : signOut(visit)
    }
    guard let bearer = try session(visit.request) else {
      try keeper.admitUnknown(visit.request)
      let isOver = ConsoleCookie.id(in: visit.request) != nil
      return signInPage(visit, isOver ? .signInEnded : nil, next: visit.here)
    }
    visit.bearer = bearer
    visit.index = try Failures.named { () throws(StoreError) in try desk.state() }
    return try show(path, visit)
  }

  private func show(_ path: [String], _ visit: Visit) throws(Problem) -> HTTPResponse {
    switch (path.first, path.count) {
    case (nil, _): return try home(visit)
    case ("users", 2): return try user(path[1], visit)
    case ("notifications", 2): return try notification(path[1], visit)
    case ("devices", 2): return try device(path[1], visit)
    case ("charts", 1): return try charts(visit)
    case ("selftest", 1):
      let runs = try Failures.named { () throws(StoreError) in
        try desk.selfTests(limit: SelfTestPage.runsMax)
      }
      return page(visit, .selfTest, SelfTestPage(context: context(visit), runs: runs).bytes)
    case ("reasons", 1):
      return page(visit, .reasons, ReasonsPage(context: context(visit)).bytes)
    default: return nothing(visit)
    }
  }

  // MARK: Sessions

  /// Whose session the request is in; a token that was taken away, or has another role now, ends it.
  private func session(_ request: HTTPRequest) throws(Problem) -> TokenTable.Entry? {
    guard let id = ConsoleCookie.id(in: request),
      let bearer = sessions.bearer(id, nowMs: nowMs())
    else { return nil }
    guard let known = try keeper.admitAgain(bearer), Self.mayEnter(known.role) else {
      sessions.end(id)
      return nil
    }
    return known
  }

  static func mayEnter(_ role: Role) -> Bool { role == .support || role == .admin }

  /// A form of another site would sign somebody in under a name that is not theirs.
  private func checkOrigin(_ request: HTTPRequest) throws(Problem) {
    for site in request.headers("Sec-Fetch-Site") where site != "same-origin" && site != "none" {
      throw Problem(403, "other_site", "")
    }
  }

  private func signIn(_ visit: Visit) throws(Problem) -> HTTPResponse {
    let form = FormBody(visit.request)
    let next = Self.address(form["next"]) ?? "/console"
    let bearer: TokenTable.Entry
    do throws(Problem) {
      bearer = try keeper.admit(form["token"], of: visit.request)
    } catch {
      guard error.status == 401 else { throw error }
      log.warning("Somebody came to the console with a token that is not known", [:])
      return signInPage(visit, .signInFailed, next: next)
    }
    guard Self.mayEnter(bearer.role) else {
      return signInPage(visit, .signInForbidden, next: next, status: 403)
    }
    if let old = ConsoleCookie.id(in: visit.request) { sessions.end(old) }
    metrics.note(.signedIn)
    log.info("Signed in to the console", ["token": .string(bearer.id)])
    return redirect(
      visit, ConsoleContext.link(next, [], visit.language),
      cookie.set(sessions.begin(bearer, nowMs: nowMs())))
  }

  private func signOut(_ visit: Visit) -> HTTPResponse {
    if let id = ConsoleCookie.id(in: visit.request) { sessions.end(id) }
    return redirect(visit, ConsoleContext.link("/console", [], visit.language), cookie.clear())
  }

  /// An address of the console and of nobody else, that can stand in a header.
  static func address(_ text: String?) -> String? {
    guard let text,
      text == "/console" || text.hasPrefix("/console/") || text.hasPrefix("/console?"),
      text.utf8.count <= 2_000, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return text
  }

  private func signInPage(
    _ visit: Visit, _ problem: FramePhrase?, next: String, status: Int = 401
  ) -> HTTPResponse {
    metrics.note(problem == nil ? .asked : .refused)
    var context = context(visit)
    // The form's own address cannot be opened.
    if context.here.hasPrefix("/console/log") { context.here = "/console" }
    let shown = SignInPage(context: context, problem: problem, next: next)
    return page(visit, nil, shown.bytes, status: status)
  }

  // MARK: Pages

  private func home(_ visit: Visit) throws(Problem) -> HTTPResponse {
    guard let query = visit.arguments["q"].map({ String(ASCII.trimmed($0[...])) }), !query.isEmpty
    else { return page(visit, .home, HomePage(context: context(visit)).bytes) }
    var matches: [SupportDesk.Match] = []
    if RecordText.isID(query) {
      matches = try Failures.named { () throws(StoreError) in try desk.find(query) }
    }
    if matches.count == 1 {
      let kind =
        switch matches[0] {
        case .user: "users"
        case .notification: "notifications"
        case .device: "devices"
        }
      metrics.note(.home)
      return redirect(
        visit,
        ConsoleContext.link("/console/\(kind)/\(PercentText.encode(query))", [], visit.language))
    }
    let shown = HomePage(context: context(visit), query: query, matches: matches)
    return page(visit, .home, shown.bytes)
  }

  private func user(_ id: String, _ visit: Visit) throws(Problem) -> HTTPResponse {
    guard RecordText.isID(id) else { return nothing(visit) }
    let before = try cursor(visit)
    let until = visit.arguments["until"].flatMap { Int64($0) } ?? .max
    let story = try Failures.named { () throws(StoreError) in
      try desk.user(Identifier(id), before: before, untilMs: until)
    }
    guard let story else { return nothing(visit) }
    return page(visit, .user, UserPage(context: context(visit), story: story).bytes)
  }

  private func notification(_ id: String, _ visit: Visit) throws(Problem) -> HTTPResponse {
    let story = try Failures.named { () throws(StoreError) in try desk.notification(id) }
    guard let story else { return nothing(visit) }
    return page(
      visit, .notification, NotificationPage(context: context(visit), story: story).bytes)
  }

  private func device(_ id: String, _ visit: Visit) throws(Problem) -> HTTPResponse {
    guard RecordText.isID(id) else { return nothing(visit) }
    let before = try cursor(visit)
    let story = try Failures.named { () throws(StoreError) in try desk.device(id, before: before) }
    guard let story else { return nothing(visit) }
    return page(visit, .device, DevicePage(context: context(visit), story: story).bytes)
  }

  private func charts(_ visit: Visit) throws(Problem) -> HTTPResponse {
    let asked = visit.arguments["hours"].flatMap { Int($0) }
    let hours = ChartsPage.ranges.first { $0 == asked } ?? ChartsPage.ranges[0]
    let shown = try Failures.named { () throws(StoreError) in
      ChartsPage(
        context: context(visit), outcomes: try desk.outcomes(hours: hours),
        holds: try desk.holdsDue(), quiet: desk.quietMap.answer)
    }
    return page(visit, .charts, shown.bytes)
  }

  private func cursor(_ visit: Visit) throws(Problem) -> EvidenceCursor? {
    guard let text = visit.arguments["before"] else { return nil }
    guard let cursor = EvidenceCursor(text) else { throw Problem(400, "malformed_argument", "") }
    return cursor
  }

  // MARK: Answers

  private func context(_ visit: Visit) -> ConsoleContext {
    ConsoleContext(
      words: ConsoleWords(language: visit.language), nowMs: nowMs(), bearer: visit.bearer?.id,
      here: visit.here, index: visit.index,
      localTime: { [panel = desk.panel] in panel.localTime($0, in: $1) })
  }

  private func page(
    _ visit: Visit, _ kind: ConsoleMetrics.Visit?, _ bytes: [UInt8], status: Int = 200
  ) -> HTTPResponse {
    if let kind { metrics.note(kind) }
    return HTTPResponse(
      status: status,
      headers: ConsoleFrame.headers + [HTTPField("Content-Language", visit.language.tag)],
      body: bytes)
  }

  private func redirect(_ visit: Visit, _ location: String, _ cookie: HTTPField? = nil)
    -> HTTPResponse
  {
    HTTPResponse(
      status: 303,
      headers: ConsoleFrame.headers + [HTTPField("Location", location)]
        + (cookie.map { [$0] } ?? []))
  }

  private func nothing(_ visit: Visit) -> HTTPResponse {
    let shown = MessagePage(
      context: context(visit), title: .notFoundTitle, text: .notFoundText, isOfRecords: true)
    return page(visit, .refused, shown.bytes, status: 404)
  }

  private func answer(_ problem: Problem, _ visit: Visit) -> HTTPResponse {
    if let cause = problem.cause {
      log.error("A page of the console could not be made", ["reason": .string(cause)])
    }
    let (title, text): (FramePhrase, FramePhrase) =
      switch problem.status {
      case 429: (.tooManyTitle, .tooManyText)
      case 503: (.busyTitle, .busyText)
      default: (.badFormTitle, .badFormText)
      }
    var shown = page(
      visit, .refused,
      MessagePage(context: context(visit), title: title, text: text).bytes, status: problem.status)
    shown.headers += problem.headers
    return shown
  }
}

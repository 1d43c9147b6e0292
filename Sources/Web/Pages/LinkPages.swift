import Gate
import Preferences
import Telemetry

/// The pages behind signed links: `/u/TOKEN` mutes a category or undoes that, `/s/TOKEN` shows and
/// changes all settings. Whoever has a token may do what it says and nothing else; there is no login, no
/// cookie, and so nothing that another site could make a browser send along.
public struct LinkPages: Sendable {
  /// How long the links that a page makes are good for.
  static let settingsLifetimeS: Int64 = 3_600
  static let undoLifetimeS: Int64 = 86_400

  private enum Kind: String, CaseIterable {
    case unsubscribe, settings
  }

  private let service: PreferenceService
  private let keys: LinkKeys
  private let actions: LinkActions
  private let keeper: Gatekeeper
  private let metrics: PageMetrics
  private let log: Logger
  private let nowMs: @Sendable () -> Int64

  public init(
    service: PreferenceService, keys: LinkKeys, keeper: Gatekeeper, registry: MetricRegistry,
    log: Logger, nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs
  ) {
    self.service = service
    self.keys = keys
    self.keeper = keeper
    self.log = log
    self.nowMs = nowMs
    actions = LinkActions(service: service, nowMs: nowMs)
    metrics = PageMetrics(registry)
  }

  /// Nil where the path is none of these pages'.
  public func respond(to request: HTTPRequest) -> HTTPResponse? {
    let kind: Kind
    if request.path == "/u" || request.path.hasPrefix("/u/") {
      kind = .unsubscribe
    } else if request.path == "/s" || request.path.hasPrefix("/s/") {
      kind = .settings
    } else {
      return nil
    }
    let visit = Visit(
      request: request, language: PageLanguage.of(request),
      token: PercentText.decode(request.path.dropFirst(3)) ?? "")
    do throws(Problem) {
      return try answer(visit, kind)
    } catch {
      return answer(error, visit)
    }
  }

  private struct Visit {
    var request: HTTPRequest
    var language: PageLanguage
    var token: String

    var isPost: Bool { request.method == "POST" }
  }

  private func answer(_ visit: Visit, _ kind: Kind) throws(Problem) -> HTTPResponse {
    let allow = HTTPField("Allow", "GET, HEAD, POST, OPTIONS")
    switch visit.request.method {
    case "GET", "HEAD", "POST": break
    case "OPTIONS": return HTTPResponse(status: 204, headers: [allow])
    default: throw Problem(405, "method_not_allowed", "", headers: [allow])
    }
    try keeper.admitUnknown(visit.request)
    if visit.request.body == .ambiguous { throw Problem(400, "ambiguous_length", "") }
    let link: Link
    switch LinkVerifier(keys).verify(visit.token, nowSeconds: nowMs() / 1_000) {
    case .success(let found): link = found
    case .failure(let fault): return deadLink(fault.rawValue, visit)
    }
    let userID = Identifier(link.userID)
    let user = try Failures.named { () throws(StoreError) in try service.user(userID) }
    guard let user else { return deadLink("unknown_user", visit) }
    switch (kind, link.purpose, link.category) {
    case (.unsubscribe, .unsubscribe, .some(let category)) where category.carriesLink:
      return try unsubscribe(visit, category, user)
    case (.unsubscribe, .undo, .some(let category)) where category.carriesLink:
      return try undo(visit, category, user)
    case (.settings, .settings, nil): return try settings(visit, user)
    default: return deadLink("other_purpose", visit)
    }
  }

  // MARK: Unsubscribe

  /// Whatever the body is, a POST mutes: that of RFC 8058, in either encoding, that of the page, and that
  /// of a client that sends none. An opt-out is not lost over a form.
  private func unsubscribe(
    _ visit: Visit, _ category: Category, _ user: UserPreferences
  ) throws(Problem) -> HTTPResponse {
    guard visit.isPost else {
      metrics.note(.asked)
      return page(
        visit, UnsubscribePage.ask(category, token: visit.token, onward(visit, user)).bytes)
    }
    let answer = try Failures.named { () throws(StoreError) in
      if FormBody.isOneClick(visit.request) {
        return try actions.muteByOneClick(category, of: user, token: visit.token)
      }
      return try actions.mute(category, of: user, token: visit.token, once: once(visit))
    }
    guard let user = try readAgain(user) else { return deadLink("unknown_user", visit) }
    return state(visit, category, user, isRepeat: answer.isRepeat)
  }

  /// What is in force now, never what was asked for: a page of a link that was used before changes
  /// nothing.
  private func state(
    _ visit: Visit, _ category: Category, _ user: UserPreferences, isRepeat: Bool
  ) -> HTTPResponse {
    let choice = user.account.choices[category]
    guard choice?.state == .userOff else {
      metrics.note(.repeated)
      return page(
        visit, UnsubscribePage.stillOn(category, token: visit.token, onward(visit, user)).bytes)
    }
    metrics.note(isRepeat ? .repeated : .muted)
    let isByLink = choice?.inForce?.source == .unsubscribeLink
    let undo = isByLink ? token(.undo, category, user, Self.undoLifetimeS) : nil
    return page(visit, UnsubscribePage.muted(category, undo: undo, onward(visit, user)).bytes)
  }

  private func undo(
    _ visit: Visit, _ category: Category, _ user: UserPreferences
  ) throws(Problem) -> HTTPResponse {
    var user = user
    var isRepeat = false
    if visit.isPost {
      let answer = try Failures.named { () throws(StoreError) in
        try actions.undo(category, of: user, token: visit.token, once: once(visit))
      }
      guard let after = try readAgain(user) else {
        return deadLink("unknown_user", visit)
      }
      (user, isRepeat) = (after, answer.isRepeat)
    }
    let onward = onward(visit, user)
    if user.account.choices[category]?.inForce?.source == .unsubscribeLink {
      metrics.note(visit.isPost ? .repeated : .asked)
      return page(
        visit, UnsubscribePage.askUndo(category, token: visit.token, onward).bytes)
    }
    metrics.note(visit.isPost ? (isRepeat ? .repeated : .undone) : .asked)
    return page(visit, UnsubscribePage.undone(category, onward).bytes)
  }

  /// Nil where an erasure came between.
  private func readAgain(_ user: UserPreferences) throws(Problem) -> UserPreferences? {
    try Failures.named { () throws(StoreError) in try service.user(user.userID) }
  }

  // MARK: Settings

  private func settings(_ visit: Visit, _ user: UserPreferences) throws(Problem) -> HTTPResponse {
    if visit.isPost { return try change(visit, user) }
    let settings = try Failures.named { () throws(StoreError) in
      try service.accountSettings(of: user.userID)
    }
    guard let settings else { return deadLink("unknown_user", visit) }
    metrics.note(.shown)
    let changed = visit.request.arguments.last { $0.name == "changed" }?.value
    let shown = SettingsPage(
      settings: settings, token: visit.token, once: LinkActions.newOnce(),
      changed: changed.flatMap(Self.category))
    return page(visit, shown.bytes)
  }

  private func change(_ visit: Visit, _ user: UserPreferences) throws(Problem) -> HTTPResponse {
    let form = FormBody(visit.request)
    guard let category = form["category"].flatMap(Self.category), let once = once(visit),
      let to = form["to"], to == "on" || to == "off"
    else { throw Problem(400, "malformed_form", "") }
    try Failures.named { () throws(StoreError) in
      try actions.set(category, on: to == "on", of: user, token: visit.token, once: once)
    }
    metrics.note(.changed)
    // To a page of its own: loading that again sends nothing again.
    let location =
      PageLayout.address(visit.token, visit.language) + "&changed=\(category.name)"
    return HTTPResponse(
      status: 303, headers: PageLayout.headers + [HTTPField("Location", location)])
  }

  private static func category(_ name: String) -> Category? {
    Category.allCases.first { "\($0.name)" == name }
  }

  // MARK: Pages

  private func once(_ visit: Visit) -> String? {
    FormBody(visit.request)["once"].flatMap { LinkActions.isOnce($0) ? $0 : nil }
  }

  private func onward(_ visit: Visit, _ user: UserPreferences) -> UnsubscribePage.Onward {
    UnsubscribePage.Onward(
      token: visit.token, settings: token(.settings, nil, user, Self.settingsLifetimeS),
      once: LinkActions.newOnce())
  }

  private func token(
    _ purpose: LinkPurpose, _ category: Category?, _ user: UserPreferences, _ lifetimeS: Int64
  ) -> String {
    LinkWriter(keys).token(
      Link(
        purpose: purpose, category: category, userID: user.userID.text, notificationID: nil,
        expiresAtSeconds: nowMs() / 1_000 + lifetimeS))
  }

  private func page(
    _ visit: Visit, status: Int = 200, headers: [HTTPField] = [],
    _ bytes: (PageLanguage) -> [UInt8]
  ) -> HTTPResponse {
    HTTPResponse(
      status: status,
      headers: PageLayout.headers + [HTTPField("Content-Language", visit.language.tag)] + headers,
      body: bytes(visit.language))
  }

  /// One page, whatever is wrong: who tries links learns nothing of them.
  private func deadLink(_ why: String, _ visit: Visit) -> HTTPResponse {
    metrics.noteDead(why)
    return page(visit, status: 404, RefusalPage.deadLink.bytes)
  }

  private func answer(_ problem: Problem, _ visit: Visit) -> HTTPResponse {
    if let cause = problem.cause {
      log.error("A page could not be made", ["reason": .string(cause)])
    }
    metrics.note(.refused)
    let shown: RefusalPage =
      switch problem.status {
      case 429: .tooMany
      case 503: .busy
      default: .badForm
      }
    return page(visit, status: problem.status, headers: problem.headers, shown.bytes)
  }
}

import Evidence

/// The five values of a decision, which stay five (requirements C7); those that stood in the way are
/// marked.
struct ValuesView {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  private enum Value: CaseIterable {
    case choice, permission, token, quiet, suppression
  }

  /// - Parameter atMs: when it was decided.
  func html(_ values: EvidenceValues, reasons: [String], atMs: Int64) -> HTML {
    let cells = Value.allCases.map { value -> HTML in
      let (name, main, more) = text(value, values, atMs)
      let isHit = reasons.contains { Self.value(of: $0) == value }
      let isHold = value == .quiet && reasons.contains("quiet_hours_deferred")
      let kind: HTML = isHit ? (isHold ? " class=\"hold\"" : " class=\"hit\"") : .nothing
      let lines = more.map { line -> HTML in "<span>\(line)</span>" }
      return "<div\(kind)><dt>\(words[name])</dt><dd>\(main)\(lines)</dd></div>\n"
    }
    return "<dl class=\"values\">\n\(cells)</dl>"
  }

  /// What a reason is about; nil where it is about none of the five.
  private static func value(of reason: String) -> Value? {
    switch reason {
    case "no_gdpr_consent", "account_opted_out", "device_opted_out", "category_default_off",
      "subtype_muted":
      .choice
    case "os_permission_denied": .permission
    case "token_revoked", "token_expired": .token
    case "quiet_hours_dropped", "expires_in_quiet_hours", "quiet_hours_deferred": .quiet
    case "suppressed_legal_hold", "suppressed_abuse_hold", "suppressed_bounced": .suppression
    default: nil
    }
  }

  /// The same as lines of text.
  func lines(_ values: EvidenceValues, atMs: Int64) -> [String] {
    Value.allCases.map { value in
      let (name, main, more) = text(value, values, atMs)
      return "\(words[name]): \(words.sentence([main] + more))"
    }
  }

  private func text(
    _ value: Value, _ values: EvidenceValues, _ atMs: Int64
  ) -> (name: StoryPhrase, main: String, more: [String]) {
    switch value {
    case .choice:
      let main =
        values.effectiveChoice.map { words[$0 ? StoryPhrase.effectiveOn : .effectiveOff] } ?? "–"
      return (
        .valueChoice, main,
        [
          words[StoryPhrase.ofAccount, ("value", words.value(values.accountChoice))],
          words[StoryPhrase.ofDevice, ("value", words.value(values.deviceChoice))],
        ]
      )
    case .permission: return (.valuePermission, known(values.osPermission), [])
    case .token: return (.valueToken, known(values.tokenStatus), [])
    case .quiet: return quiet(values.quietHours, atMs)
    case .suppression:
      return (.valueSuppression, words.value(values.suppression), [])
    }
  }

  private func known(_ raw: String?) -> String { raw.map { words.value($0) } ?? "–" }

  private func quiet(
    _ quiet: EvidenceQuietHours, _ atMs: Int64
  ) -> (name: StoryPhrase, main: String, more: [String]) {
    var more: [String] = []
    if let zone = quiet.timezone {
      let source = quiet.timezoneSource.map { " (\(words.value($0)))" } ?? ""
      more.append(zone + source)
    }
    if quiet.isInvalid { return (.valueQuiet, words[StoryPhrase.invalidWindow], more) }
    guard let start = quiet.start, let end = quiet.end else {
      return (.valueQuiet, words[StoryPhrase.noWindow], more)
    }
    if !quiet.days.isEmpty { more.insert(words.list(quiet.days.map { words.value($0) }), at: 0) }
    if let time = quiet.timezone.flatMap({ context.localTime(atMs, $0) }) {
      more.append(words[StoryPhrase.localTime, ("time", time)])
    }
    if let isInside = quiet.isInside {
      var place = words[isInside ? StoryPhrase.inside : .outside]
      if let ends = quiet.endsAtMs {
        // By the window's own clock, as its start and end are.
        let there = quiet.timezone.flatMap { context.localTime(ends, $0) }
        let end =
          there.map { words[StoryPhrase.endsThere, ("time", $0)] }
          ?? words[StoryPhrase.endsAt, ("time", ConsoleContext.utc(ends))]
        place = words.sentence([place, end])
      }
      more.append(place)
    }
    return (.valueQuiet, "\(start)–\(end)", more)
  }
}

import Evidence
import Gate
import Preferences

/// What support sees, as JSON. Of a record everything but three members: the candidate's payload, which
/// is between the sender and the user; the bytes of an unreadable one; and the unsubscribe link, by
/// which whoever has it can act for the user.
enum EvidenceJSON {
  static func user(_ story: UserStory) -> [UInt8] {
    var json = JSONMembers()
    json.add("user_id", story.userID.text)
    json.add("now", json: now(story.now))
    json.add("items", json: items(story.timeline))
    json.add("next", json: next(story.next, untilMs: story.nextUntilMs))
    return json.bytes
  }

  static func device(_ story: DeviceStory) -> [UInt8] {
    var json = JSONMembers()
    json.add("device_id", story.deviceID)
    json.add("user_id", story.holder?.text)
    json.add("items", json: items(story.timeline))
    json.add("next", json: next(story.next, untilMs: nil))
    return json.bytes
  }

  static func notification(_ story: NotificationStory) -> [UInt8] {
    var json = JSONMembers()
    json.add("notification_id", story.notificationID)
    json.add("decisions", json: JSONMembers.array(story.attempts.map(attempt)))
    json.add("other_receipts", json: JSONMembers.array(story.otherReceipts.map(receipt)))
    return json.bytes
  }

  private static func items(_ timeline: Timeline) -> [UInt8] {
    let items = timeline.items.flatMap { item -> [[UInt8]] in
      switch item {
      case .decisions(let attempts):
        return attempts.map { one in
          var json = JSONMembers()
          json.add("decision", json: attempt(one))
          return json.bytes
        }
      case .change(let row):
        var json = JSONMembers()
        json.add("change", json: Array(AuditDocument.text(row).utf8))
        return [json.bytes]
      }
    }
    return JSONMembers.array(items)
  }

  private static func next(_ cursor: EvidenceCursor?, untilMs: Int64?) -> [UInt8] {
    guard let cursor else { return Array("null".utf8) }
    var json = JSONMembers()
    json.add("before", cursor.text)
    if let untilMs { json.add("until", number: untilMs) }
    return json.bytes
  }

  // MARK: Now

  static func now(_ answer: NowAnswer) -> [UInt8] {
    var json = JSONMembers()
    json.add("at", Instant.text(answer.atMs))
    json.add("policy_version", answer.policyVersion)
    json.add("preference_version", number: answer.preferenceVersion)
    json.add("decisions", json: JSONMembers.array(answer.decisions.map(decision)))
    return json.bytes
  }

  private static func decision(_ decision: NowDecision) -> [UInt8] {
    var json = JSONMembers()
    json.add("device_id", decision.deviceID)
    json.add("category", "\(decision.category.name)")
    json.add("outcome", "\(decision.outcome.name)")
    json.add("reason", decision.reason)
    json.add("blocked_by", json: JSONMembers.array(decision.blockedBy))
    json.add("values", json: values(decision.values))
    json.add("deliver_after", instant: decision.deliverAfterMs)
    json.add("send_before", instant: decision.sendBeforeMs)
    return json.bytes
  }

  // MARK: Decisions

  static func attempt(_ attempt: EvidenceAttempt) -> [UInt8] {
    var json = JSONMembers()
    json.add("sequence", number: attempt.sequence)
    json.add("outcome", attempt.outcome.rawValue)
    json.add("reason", attempt.reason)
    json.add("blocked_by", json: JSONMembers.array(attempt.blockedBy))
    json.add("decided_at", Instant.text(attempt.atMs))
    json.add("user_id", attempt.userID)
    json.add("notification_id", attempt.notificationID)
    json.add("device_id", attempt.deviceID)
    json.add("category", attempt.category)
    json.add("subtype", attempt.subtype)
    json.add("event", attempt.event)
    json.add("is_self_test", attempt.isSelfTest)
    json.add("is_unreadable", attempt.isUnreadable)
    json.add("place", json: place(attempt.place))
    json.add("policy_version", attempt.versions.policy)
    json.add("preference_version", number: attempt.versions.preferences)
    json.add("preference_offset", number: attempt.versions.preferenceOffset)
    json.add("tzdb_version", attempt.versions.zones)
    json.add("gate_version", attempt.versions.gate)
    json.add("values", json: values(attempt.values))
    json.add("approval", json: approval(attempt.approval))
    json.add("deliver_after", instant: attempt.deliverAfterMs)
    json.add("is_open_hold", attempt.isOpenHold)
    json.add("released_as", number: attempt.releasedAs)
    json.add("held", json: held(attempt.held))
    json.add("held_as", number: attempt.heldAs)
    json.add("superseded_by", attempt.supersededBy)
    json.add("cap", json: cap(attempt.cap))
    json.add("detail", attempt.detail)
    json.add("detail_member", attempt.detailMember)
    json.add("receipts", json: JSONMembers.array(attempt.receipts.map(receipt)))
    return json.bytes
  }

  private static func receipt(_ receipt: EvidenceReceipt) -> [UInt8] {
    var json = JSONMembers()
    json.add("kind", receipt.kind.rawValue)
    json.add("at", Instant.text(receipt.atMs))
    json.add("device_id", receipt.deviceID)
    json.add("provider", receipt.provider)
    json.add("code", receipt.code)
    json.add("via", receipt.via)
    json.add("place", json: place(receipt.place))
    return json.bytes
  }

  private static func place(_ place: EvidencePlace) -> [UInt8] {
    var json = JSONMembers()
    json.add("topic", place.topic)
    json.add("partition", Int(place.partition))
    json.add("offset", number: place.offset)
    return json.bytes
  }

  /// In the shape of a record's `evidence`.
  private static func values(_ values: EvidenceValues) -> [UInt8] {
    var choice = JSONMembers()
    choice.add("account", values.accountChoice)
    choice.add("device", values.deviceChoice)
    choice.add("effective", optional: values.effectiveChoice)
    let hours = values.quietHours
    var quiet = JSONMembers()
    quiet.add("start", hours.start)
    quiet.add("end", hours.end)
    quiet.add("days", json: JSONMembers.array(hours.days))
    quiet.add("timezone", hours.timezone)
    quiet.add("timezone_source", hours.timezoneSource)
    quiet.add("in_window", optional: hours.isInside)
    quiet.add("ends_at", instant: hours.endsAtMs)
    quiet.add("invalid", hours.isInvalid)
    var json = JSONMembers()
    json.add("user_category_opt_in", json: choice.bytes)
    json.add("os_permission", values.osPermission)
    json.add("device_token_status", values.tokenStatus)
    json.add("quiet_hours", json: quiet.bytes)
    json.add("suppression_reason", values.suppression)
    return json.bytes
  }

  private static func approval(_ approval: EvidenceApproval?) -> [UInt8] {
    guard let approval else { return Array("null".utf8) }
    var json = JSONMembers()
    json.add("platform", approval.platform)
    json.add("interruption", approval.interruption)
    json.add("critical", approval.isCritical)
    json.add("expires_at", instant: approval.expiresAtMs)
    json.add("send_before", instant: approval.sendBeforeMs)
    json.add("collapse_key", approval.collapseKey)
    json.add("sms_fallback", approval.smsFallback)
    return json.bytes
  }

  private static func held(_ hold: EvidenceHold?) -> [UInt8] {
    guard let hold else { return Array("null".utf8) }
    var json = JSONMembers()
    json.add("decided_at", Instant.text(hold.decidedAtMs))
    json.add("deliver_after", Instant.text(hold.deliverAfterMs))
    return json.bytes
  }

  private static func cap(_ cap: EvidenceCap?) -> [UInt8] {
    guard let cap else { return Array("null".utf8) }
    var json = JSONMembers()
    json.add("name", cap.name)
    json.add("frees_at", instant: cap.freesAtMs)
    return json.bytes
  }

  // MARK: Figures

  static func outcomes(_ figures: OutcomeFigures) -> [UInt8] {
    let counts = figures.counts.map { count -> [UInt8] in
      var json = JSONMembers()
      json.add("hour", Instant.text(count.hourMs))
      json.add("outcome", count.outcome.rawValue)
      json.add("category", count.category)
      json.add("reason", count.reason)
      json.add("count", number: count.count)
      return json.bytes
    }
    var json = JSONMembers()
    json.add("from", Instant.text(figures.fromMs))
    json.add("hours", figures.hours)
    json.add("counts", json: JSONMembers.array(counts))
    return json.bytes
  }

  static func holds(_ figures: HoldFigures) -> [UInt8] {
    var json = JSONMembers()
    json.add("from", Instant.text(figures.fromMs))
    json.add("counts", json: JSONMembers.array(figures.counts.map { Array("\($0)".utf8) }))
    return json.bytes
  }

  static func quiet(_ answer: QuietMap.Answer) -> [UInt8] {
    var json = JSONMembers()
    json.add("from", Instant.text(answer.fromMs))
    json.add("users", json: JSONMembers.array(answer.users.map { Array("\($0)".utf8) }))
    json.add("population", answer.population)
    json.add("counted_at", Instant.text(answer.atMs))
    return json.bytes
  }

  static func state(_ state: IndexState) -> [UInt8] {
    var json = JSONMembers()
    json.add("fresh_at", instant: state.lag.freshAtMs)
    json.add("records_behind", number: state.lag.recordsBehind)
    json.add("newest_at", instant: state.lag.newestMs)
    json.add("newest_self_test", json: state.newestSelfTest.map(selfTest) ?? Array("null".utf8))
    return json.bytes
  }

  private static func selfTest(_ run: SelfTestRun) -> [UInt8] {
    var json = JSONMembers()
    json.add("at", Instant.text(run.atMs))
    json.add("version", run.version)
    json.add("outcome", run.outcome.rawValue)
    json.add("report", json: JSONNode(Array(run.report.utf8))?.json ?? Array("null".utf8))
    return json.bytes
  }
}

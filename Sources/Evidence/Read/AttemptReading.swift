/// From a row to what it says.
extension EvidenceAttempt {
  init(_ row: AttemptRow) {
    self.init(
      sequence: row.sequence, place: row.place, outcome: row.outcome,
      isSelfTest: row.content == .selfTest, isUnreadable: true, atMs: row.atMs,
      userID: row.userID, notificationID: row.notificationID, deviceID: row.deviceID,
      reason: "", blockedBy: [], versions: EvidenceVersions(), values: EvidenceValues(),
      record: row.record)
    guard row.isReadable, let record = RecordReading(row.record) else { return }
    isUnreadable = false
    // What is too long to be searched by stands in the record all the same.
    userID = record.string("user_id") ?? userID
    notificationID = record.string("notification_id") ?? notificationID
    deviceID = record.string("device_id") ?? deviceID
    category = record.string("category")
    subtype = record.string("subtype")
    event = record.event
    reason = record.string("reason") ?? ""
    blockedBy = record.strings("blocked_by")
    versions.policy = record.string("policy_version")
    versions.preferences = record.integer("preference_version")
    versions.preferenceOffset = record.integer("preference_offset")
    versions.zones = record.string("tzdb_version")
    versions.gate = record.string("gate_version")
    values = EvidenceValues(record.object("evidence"))
    if outcome == .approved { approval = EvidenceApproval(record) }
    deliverAfterMs = record.instant("deliver_after")
    if let hold = record.object("held"), let decided = hold.instant("decided_at"),
      let due = hold.instant("deliver_after")
    {
      held = EvidenceHold(decidedAtMs: decided, deliverAfterMs: due)
    }
    supersededBy = record.string("superseded_by")
    cap = record.object("cap").flatMap { cap in
      cap.string("name").map { EvidenceCap(name: $0, freesAtMs: cap.instant("frees_at")) }
    }
    detail = record.string("detail")
    detailMember = record.string("detail_member")
  }
}

extension EvidenceValues {
  fileprivate init(_ evidence: RecordReading?) {
    self.init()
    let choice = evidence?.object("user_category_opt_in")
    accountChoice = choice?.string("account")
    deviceChoice = choice?.string("device")
    effectiveChoice = choice?.flag("effective")
    osPermission = evidence?.string("os_permission")
    tokenStatus = evidence?.string("device_token_status")
    suppression = evidence?.string("suppression_reason")
    guard let quiet = evidence?.object("quiet_hours") else { return }
    quietHours.start = quiet.string("start")
    quietHours.end = quiet.string("end")
    quietHours.days = quiet.strings("days")
    quietHours.timezone = quiet.string("timezone")
    quietHours.timezoneSource = quiet.string("timezone_source")
    quietHours.isInside = quiet.flag("in_window")
    quietHours.endsAtMs = quiet.instant("ends_at")
    quietHours.isInvalid = quiet.flag("invalid") ?? false
  }
}

extension EvidenceApproval {
  fileprivate init(_ record: RecordReading) {
    self.init()
    platform = record.string("platform")
    interruption = record.string("interruption")
    isCritical = record.flag("critical") ?? false
    expiresAtMs = record.instant("expires_at")
    sendBeforeMs = record.instant("send_before")
    collapseKey = record.string("collapse_key")
    unsubscribeURL = record.string("unsubscribe_url")
    smsFallback = record.string("sms_fallback")
  }
}

extension EvidenceReceipt {
  init(_ row: ReceiptRow) {
    let record = RecordReading(row.record)
    // By the row where that is not believed.
    let atMs = record?.instant("at").flatMap {
      $0 >= 0 && $0 - RecordDecoder.dayMs <= row.atMs ? $0 : nil
    }
    let kind: Kind =
      switch (record?.string("status"), record?.string("event")) {
      case ("accepted", nil): .accepted
      case ("rejected", nil): .rejected
      case (nil, "user_observed"): .userObserved
      default: .other
      }
    self.init(
      sequence: row.sequence, place: row.place, kind: kind,
      atMs: atMs ?? row.atMs, userID: row.userID,
      notificationID: row.notificationID, deviceID: row.deviceID,
      provider: record?.string("provider"), code: record?.string("code"),
      via: record?.string("via"), record: row.record)
  }
}

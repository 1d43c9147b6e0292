import CCrypto

/// Writes the records of the three output topics. The candidate's own bytes go in unchanged.
struct RecordEncoder: ~Copyable {
  /// Bytes of an unreadable candidate that are kept (requirements T4).
  static let keptBytesMax = 32_768
  /// What everything but ids, names and the candidate takes, at most.
  private static let fixedBytes = 4_096

  private let policyVersion: Bytes
  /// What is the same in all records of a batch, made once: the instant and the policy's version,
  /// and up to `sharedSplit` what stands before the preferences' version, then what stands behind it.
  private var shared = JSONWriter(capacity: 1_024)
  private var sharedSplit = 0
  /// Nil: no key is set.
  private let links: UnsubscribeURLs?
  private let linkBytesMax: Int

  init(policyVersion: Bytes, links: LinkSettings?) {
    self.policyVersion = policyVersion
    self.links = links.map { UnsubscribeURLs($0) }
    linkBytesMax = self.links?.bytesMax ?? 0
  }

  /// The zones and the instant of the records to come.
  mutating func startBatch(zones: ZoneTable, nowMs: Int64) {
    links?.startBatch(nowMs: nowMs)
    shared.removeAll()
    shared.reserve(256 + 6 * (policyVersion.count + zones.version.count))
    shared.raw(",\"decided_at\":")
    shared.instant(nowMs)
    shared.raw(",\"policy_version\":")
    shared.string(policyVersion)
    shared.raw(",\"preference_version\":")
    sharedSplit = shared.count
    shared.raw(",\"tzdb_version\":")
    shared.string(zones.version)
    shared.raw(",\"gate_version\":")
    shared.string(GateVersion.text)
    shared.raw(",\"evidence\":")
  }

  /// What a record says of where the preferences stood.
  struct PreferencePosition {
    var version: Int64?
    var offset: Int64
  }

  /// What a record says of the hold it comes of: the first decision, and what took its place.
  struct Hold {
    var decidedAtMs: Int64
    var deliverAfterMs: Int64
    var supersededBy: Bytes?
  }

  /// One record of a candidate that could be read.
  func write(
    _ decision: Decision, _ candidate: Candidate, deviceID: Bytes?,
    preferences: PreferencePosition?, zones: ZoneTable, hold: Hold? = nil, original: Bytes,
    to out: inout JSONWriter
  ) {
    let ids = candidate.notificationID!.count + candidate.userID!.count + (deviceID?.count ?? 0)
    let names = (candidate.categoryText?.count ?? 0) + (candidate.subtype?.count ?? 0)
    let rest = (candidate.collapseKey?.count ?? 0) + (hold?.supersededBy?.count ?? 0)
    out.reserve(
      Self.fixedBytes + 6 * (ids + names + rest) + linkBytesMax + shared.count + original.count)
    writeHead(decision, candidate, deviceID, preferences, &out)
    writeEvidence(decision.device, zones, &out)
    if decision.outcome == .approved {
      writeApproval(decision, candidate, &out)
    } else if let deliverAfter = decision.deliverAfterMs {
      out.raw(",\"deliver_after\":")
      out.instant(deliverAfter)
    } else if decision.reason == .frequencyCapped, let cap = decision.cap {
      // A name takes up to 384 bytes, and the fixed part leaves more than that.
      out.raw(",\"cap\":{\"name\":")
      out.string(cap.pointee.name)
      out.raw(",\"frees_at\":")
      out.instant(decision.capFreesAtMs)
      out.byte(UInt8(ascii: "}"))
    }
    if let hold { writeHold(hold, &out) }
    out.raw(",\"notification\":")
    out.raw(original)
    out.byte(UInt8(ascii: "}"))
  }

  private func writeHold(_ hold: Hold, _ out: inout JSONWriter) {
    if let newer = hold.supersededBy {
      out.raw(",\"superseded_by\":")
      out.string(newer)
    }
    out.raw(",\"held\":{\"decided_at\":")
    out.instant(hold.decidedAtMs)
    out.raw(",\"deliver_after\":")
    out.instant(hold.deliverAfterMs)
    out.byte(UInt8(ascii: "}"))
  }

  /// The record of a candidate that cannot be decided, with what could be read of it.
  func writeInvalid(
    _ candidate: Candidate, zones: ZoneTable, original: Bytes?, to out: inout JSONWriter
  ) {
    let ids =
      (candidate.notificationID?.count ?? 0) + (candidate.userID?.count ?? 0)
      + (candidate.deviceID?.count ?? 0) + (candidate.categoryText?.count ?? 0)
      + (candidate.subtype?.count ?? 0)
    out.reserve(Self.fixedBytes + 6 * ids + shared.count + Self.keptBytesMax * 2)
    writeHead(.drop(.invalidCandidate), candidate, candidate.deviceID, nil, &out)
    writeEvidence(nil, zones, &out)
    out.raw(",\"detail\":")
    out.string(candidate.invalid!.name)
    out.raw(",\"detail_member\":")
    if let member = candidate.invalidMember {
      out.string(member.name)
    } else {
      out.raw("null")
    }
    writeOriginal(original, &out)
    out.byte(UInt8(ascii: "}"))
  }

  private func writeOriginal(_ original: Bytes?, _ out: inout JSONWriter) {
    out.raw(",\"notification_base64\":")
    guard let original else { return out.raw("null") }
    let kept = Bytes(rebasing: original.prefix(Self.keptBytesMax))
    out.byte(UInt8(ascii: "\""))
    if let start = kept.baseAddress {
      out.written(cc_base64(start, kept.count, out.end))
    }
    out.byte(UInt8(ascii: "\""))
    guard original.count > kept.count else { return }
    out.raw(",\"bytes\":")
    out.integer(Int64(original.count))
    out.raw(",\"sha256\":\"")
    var digest = InlineArray<32, UInt8>(repeating: 0)
    withUnsafeMutableBytes(of: &digest) {
      cc_sha256(
        original.baseAddress!, original.count, $0.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }
    for i in 0..<32 { out.hex(digest[i]) }
    out.byte(UInt8(ascii: "\""))
  }

  @inline(__always)
  private func writeHead(
    _ decision: Decision, _ candidate: Candidate, _ deviceID: Bytes?,
    _ preferences: PreferencePosition?, _ out: inout JSONWriter
  ) {
    out.raw("{\"outcome\":")
    out.string(decision.outcome.name)
    out.raw(",\"reason\":")
    out.string(decision.reason.name)
    out.raw(",\"blocked_by\":[")
    var blocked = decision.blockedBy
    while blocked != 0 {
      let reason = Reason(rawValue: UInt8(blocked.trailingZeroBitCount))!
      out.string(reason.name)
      blocked &= blocked - 1
      if blocked != 0 { out.byte(UInt8(ascii: ",")) }
    }
    out.raw("],\"notification_id\":")
    out.string(candidate.notificationID)
    out.raw(",\"user_id\":")
    out.string(candidate.userID)
    out.raw(",\"device_id\":")
    out.string(deviceID)
    out.raw(",\"category\":")
    out.string(candidate.categoryText)
    out.raw(",\"subtype\":")
    out.string(candidate.subtype)
    out.raw(Bytes(start: shared.base, count: sharedSplit))
    if let version = preferences?.version { out.integer(version) } else { out.raw("null") }
    out.raw(",\"preference_offset\":")
    if let preferences { out.integer(preferences.offset) } else { out.raw("null") }
    out.raw(Bytes(start: shared.base + sharedSplit, count: shared.count - sharedSplit))
  }

  @inline(__always)
  private func writeEvidence(
    _ device: DeviceEvidence?, _ zones: ZoneTable, _ out: inout JSONWriter
  ) {
    guard let device else {
      return out.raw(
        """
        {"user_category_opt_in":{"account":null,"device":null,"effective":null},\
        "os_permission":null,"device_token_status":null,\
        "quiet_hours":{"start":null,"end":null,"timezone":null,"timezone_source":null,\
        "in_window":null,"ends_at":null},"suppression_reason":null}
        """)
    }
    out.raw("{\"user_category_opt_in\":{\"account\":")
    out.string(device.accountChoice.name)
    out.raw(",\"device\":")
    out.string(device.deviceChoice.name)
    out.raw(",\"effective\":")
    out.bool(device.effective)
    out.raw("},\"os_permission\":")
    out.string(device.osPermission.name)
    out.raw(",\"device_token_status\":")
    out.string(device.tokenStatus.name)
    writeQuietHours(device.quietHours, zones, &out)
    out.raw(",\"suppression_reason\":")
    if let suppression = device.suppression {
      out.string(suppression.name)
    } else {
      out.raw("null")
    }
    out.byte(UInt8(ascii: "}"))
  }

  @inline(__always)
  private func writeQuietHours(
    _ quiet: QuietHours, _ zones: ZoneTable, _ out: inout JSONWriter
  ) {
    out.raw(",\"quiet_hours\":{\"start\":")
    out.wallClock(quiet.window?.startMinute)
    out.raw(",\"end\":")
    out.wallClock(quiet.window?.endMinute)
    out.raw(",\"timezone\":")
    out.string(zones.name(quiet.zone))
    out.raw(",\"timezone_source\":")
    out.string(quiet.zoneSource.name)
    out.raw(",\"in_window\":")
    out.bool(quiet.isInside)
    out.raw(",\"ends_at\":")
    out.instant(quiet.endsAtMs)
    if let days = quiet.window?.days, days != QuietWindow.everyDay { writeDays(days, &out) }
    if quiet.isInvalid { out.raw(",\"invalid\":true") }
    out.byte(UInt8(ascii: "}"))
  }

  private func writeDays(_ days: UInt8, _ out: inout JSONWriter) {
    let names: InlineArray<7, StaticString> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    out.raw(",\"days\":[")
    var isFirst = true
    for day in 0..<7 where days >> UInt8(day) & 1 != 0 {
      if !isFirst { out.byte(UInt8(ascii: ",")) }
      out.string(names[day])
      isFirst = false
    }
    out.byte(UInt8(ascii: "]"))
  }

  @inline(__always)
  private func writeApproval(
    _ decision: Decision, _ candidate: Candidate, _ out: inout JSONWriter
  ) {
    out.raw(",\"platform\":")
    out.string(decision.device!.platform.name)
    out.raw(",\"interruption\":")
    out.string(decision.interruption.name)
    out.raw(",\"critical\":")
    out.bool(decision.interruption == .critical)
    out.raw(",\"expires_at\":")
    out.instant(candidate.expiresAtMs)
    out.raw(",\"send_before\":")
    out.instant(decision.sendBeforeMs)
    out.raw(",\"collapse_key\":")
    out.string(candidate.collapseKey)
    out.raw(",\"unsubscribe_url\":")
    if let links, candidate.category!.carriesLink {
      links.write(candidate, to: &out)
    } else {
      out.raw("null")
    }
    out.raw(",\"sms_fallback\":")
    out.string(decision.smsAllowed ? "allowed" : "forbidden")
  }
}

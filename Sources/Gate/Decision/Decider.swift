/// The decision table, row by row: a pure, total function of a candidate, one device, the user's
/// preferences, the policy, the zones and an instant. No clock, no I/O, no lock, no allocation.
struct Decider {
  let rules: Policy.Rules
  let lane: Lane
  let fallbackZone: UInt16

  // MARK: Rows 1 to 4: the candidate itself

  /// The reason that stops a candidate whoever it is for; nil where rows 1 to 4 do not hold.
  /// Row 1 must have been asked for before (`candidate.invalid`).
  @inline(__always)
  func rejection(_ candidate: Candidate, nowMs: Int64) -> Reason? {
    guard let category = candidate.category else { return .unknownCategory }
    let event = facts(candidate.event)
    if isForeign(event, category) || isForeign(facts(candidate.subtype), category) {
      return .categoryMismatch
    }
    if let payload = candidate.payload, payload.count > rules.payloadBytesMax {
      return .payloadTooLarge
    }
    if candidate.critical, !mayBeCritical(category, event) { return .criticalNotAllowed }
    if let expires = candidate.expiresAtMs, expires <= nowMs { return .expired }
    return nil
  }

  @inline(__always)
  private func facts(_ name: Bytes?) -> NameTable.Facts {
    guard let name else { return NameTable.Facts() }
    return rules.names[name]
  }

  /// Whether either name is one the policy does not know: accepted, and counted.
  @inline(__always)
  func hasUnregisteredName(_ candidate: Candidate) -> Bool {
    if let event = candidate.event, facts(event).registered == 0 { return true }
    if let subtype = candidate.subtype, facts(subtype).registered == 0 { return true }
    return false
  }

  /// Registered, but not under this category.
  @inline(__always)
  private func isForeign(_ facts: NameTable.Facts, _ category: Category) -> Bool {
    facts.registered != 0 && facts.registered >> category.rawValue & 1 == 0
  }

  /// Requirements K1: the topic's ACLs decide who the security team is.
  @inline(__always)
  private func mayBeCritical(_ category: Category, _ event: NameTable.Facts) -> Bool {
    category == .security && lane == .security && event.critical
  }

  // MARK: Rows 6 to 16: one device

  /// - Parameters:
  ///   - isDuplicate: row 6, which is the memory's to know.
  ///   - caps: what row 14 is asked of; nil: the category has no caps.
  ///   - heldSinceMs: the first decision's instant, where this is a hold's release.
  func decide(
    _ candidate: Candidate, _ category: Category, block: PackedBlock, deviceIndex: Int,
    isDuplicate: Bool, defaults: CategoryDefaults, zones: ZoneTable, nowMs: Int64,
    caps: CapView? = nil, heldSinceMs: Int64? = nil
  ) -> Decision {
    let device = block.device(deviceIndex)
    let event = facts(candidate.event)
    let passesChoice = event.passesChoice >> category.rawValue & 1 != 0
    let passesQuietHours = event.passesQuietHours >> category.rawValue & 1 != 0
    let isRegulated = rules.isRegulated(Region(packed: device.region))

    var blocked = Blockers()
    if isDuplicate { blocked.insert(.duplicate) }
    let suppression = suppressions(block, device, category, &blocked)

    let account = block.accountChoices[category]
    let own = device.choices[category]
    let isOff = ChoiceRule.isOff(account, own)
    let isOn = ChoiceRule.isOn(
      account, own, default: defaults.isOn(category, regulated: isRegulated, rules))

    // Row 8. A choice against it is row 9's to name.
    if rules.consentBasis >> category.rawValue & 1 != 0, isRegulated, !isOff,
      !block.hasConsent(category, device: deviceIndex, nowMs: nowMs)
    {
      blocked.insert(.noGdprConsent)
    }

    // Row 9: any user-off wins, the account's named first.
    if !passesChoice {
      if account == .userOff { blocked.insert(.accountOptedOut) }
      if own == .userOff { blocked.insert(.deviceOptedOut) }
      if category != .security, let subtype = candidate.subtype,
        block.isMuted(subtype, category, device: deviceIndex)
      {
        blocked.insert(.subtypeMuted)
      }
      if !isOff, !isOn { blocked.insert(.categoryDefaultOff) }
    }

    // Rows 10 and 11: what the device can receive.
    if device.osPermission == .denied { blocked.insert(.osPermissionDenied) }
    switch device.tokenStatus {
    case .revoked: blocked.insert(.tokenRevoked)
    case .expired: blocked.insert(.tokenExpired)
    case .active: break
    }

    // Rows 12, 13 and 15: the window.
    let quiet = quietHours(block.accountPlace, device.place, zones, nowMs)
    let rule = Policy.QuietHoursRule(rawValue: rules.quietHours[Int(category.rawValue)])!
    var deliverAfterMs: Int64?
    // A hold's bound counts from its first decision, however many windows it meets; once reached, no
    // window counts: a promise that each night renews would never be kept.
    let bound = (heldSinceMs ?? nowMs) + rules.holdMaxMs
    let isOverdue = heldSinceMs != nil && nowMs >= bound
    if !passesQuietHours, rule != .bypass, !isOverdue {
      if quiet.isInvalid, rules.dropsOnInvalidWindow >> category.rawValue & 1 != 0 {
        blocked.insert(.quietHoursDropped)
      } else if quiet.isInside {
        let until = min(quiet.endsAtMs ?? bound, bound)
        if rule == .drop {
          blocked.insert(.quietHoursDropped)
        } else if let expires = candidate.expiresAtMs, expires <= until {
          blocked.insert(.expiresInQuietHours)
        } else {
          deliverAfterMs = until
        }
      }
    }

    // Row 14: not where one of the rows about the window holds.
    var usedUp: UsedUpCap?
    if let caps, !caps.isCounted, deliverAfterMs == nil, !blocked.holdsQuietHours {
      usedUp = self.usedUp(
        caps, category, zone: dayZone(block.accountPlace, device.place, zones), zones, nowMs)
      if usedUp != nil { blocked.insert(.frequencyCapped) }
    }

    let evidence = DeviceEvidence(
      index: deviceIndex, accountChoice: account, deviceChoice: own, effective: isOn,
      osPermission: device.osPermission, tokenStatus: device.tokenStatus,
      platform: device.platform, suppression: suppression, quietHours: quiet)

    if let first = blocked.first {
      return Decision(
        outcome: .dropped, reason: first, blockedBy: blocked.bits, device: evidence,
        cap: usedUp?.cap, capFreesAtMs: usedUp?.freesAtMs ?? 0)
    }
    if let deliverAfterMs {
      return Decision(
        outcome: .deferred, reason: .quietHoursDeferred, device: evidence,
        deliverAfterMs: deliverAfterMs)
    }
    var approval = approve(
      candidate, category, event, evidence, block, zones, nowMs,
      bindsToWindow: rule != .bypass && !passesQuietHours)
    if heldSinceMs != nil { approval.reason = .released }
    return approval
  }

  /// Until when a window keeps a hold from leaving, on the preferences of now; nil where none does.
  /// Where the rule has become `drop` the answer is the window's end too: a promise once made is
  /// looked at again when the window is over.
  func heldUntilMs(
    _ candidate: Candidate, _ category: Category, block: PackedBlock, deviceIndex: Int,
    zones: ZoneTable, nowMs: Int64, heldSinceMs: Int64
  ) -> Int64? {
    let bound = heldSinceMs + rules.holdMaxMs
    let passes = facts(candidate.event).passesQuietHours >> category.rawValue & 1 != 0
    let bypasses =
      rules.quietHours[Int(category.rawValue)] == Policy.QuietHoursRule.bypass.rawValue
    guard nowMs < bound, !passes, !bypasses else { return nil }
    let device = block.device(deviceIndex)
    let quiet = quietHours(block.accountPlace, device.place, zones, nowMs)
    return quiet.isInside ? min(quiet.endsAtMs ?? bound, bound) : nil
  }

  private func approve(
    _ candidate: Candidate, _ category: Category, _ event: NameTable.Facts,
    _ evidence: DeviceEvidence, _ block: PackedBlock, _ zones: ZoneTable, _ nowMs: Int64,
    bindsToWindow: Bool
  ) -> Decision {
    let quiet = evidence.quietHours
    var decision = Decision(
      outcome: .approved, reason: quiet.isInside ? .quietHoursBypassed : .ok, device: evidence)
    decision.sendBeforeMs = candidate.expiresAtMs
    if bindsToWindow, let window = quiet.window,
      let start = window.nextStartMs(after: nowMs, zone: quiet.zone, in: zones)
    {
      decision.sendBeforeMs = min(start, candidate.expiresAtMs ?? start)
    }
    if evidence.osPermission == .provisional {
      decision.interruption = .passive
    } else if category == .security {
      decision.interruption = mayBeCritical(category, event) ? .critical : .timeSensitive
    }
    decision.smsAllowed = candidate.smsFallback && block.hasSMSConsent(nowMs: nowMs)
    return decision
  }

  /// Row 7, and the strictest suppression carried.
  @inline(__always)
  private func suppressions(
    _ block: PackedBlock, _ device: PackedDevice, _ category: Category, _ blocked: inout Blockers
  ) -> Suppression? {
    let carried = block.accountSuppressions | device.suppressions
    guard carried != 0 else { return nil }
    var strictest: Suppression?
    for raw in 0..<UInt8(3) where carried >> raw & 1 != 0 {
      let suppression = Suppression(rawValue: raw)!
      if strictest == nil { strictest = suppression }
      if rules.suppressionBlocks[Int(suppression.rawValue)] >> category.rawValue & 1 != 0 {
        blocked.insert(suppression.reason)
      }
    }
    return strictest
  }

  /// A device's own window replaces the account's, and so does its null. The zone is the device's,
  /// else the account's, else the policy's; an id that the database does not have counts as absent.
  @inline(__always)
  private func quietHours(
    _ account: PackedPlace, _ device: PackedPlace, _ zones: ZoneTable, _ nowMs: Int64
  ) -> QuietHours {
    var quiet: QuietHours
    if zones.isKnown(device.zone) {
      quiet = QuietHours(zone: device.zone, zoneSource: .device)
    } else if zones.isKnown(account.zone) {
      quiet = QuietHours(zone: account.zone, zoneSource: .account)
    } else {
      quiet = QuietHours(zone: fallbackZone, zoneSource: .fallback)
    }
    let stored = device.windowKind == .absent ? account : device
    switch stored.windowKind {
    case .absent, .null: break
    case .invalid: quiet.isInvalid = true
    case .set:
      let window = stored.window
      quiet.window = window
      quiet.isInside = window.contains(nowMs, zone: quiet.zone, in: zones)
      if quiet.isInside {
        quiet.endsAtMs = window.endsAtMs(after: nowMs, zone: quiet.zone, in: zones)
      }
    }
    return quiet
  }
}

/// Dropping reasons that hold, as a set that knows the order of the table.
private struct Blockers {
  var bits: UInt32 = 0

  @inline(__always)
  mutating func insert(_ reason: Reason) { bits |= 1 << UInt32(reason.rawValue) }

  var holdsQuietHours: Bool {
    let rows: UInt32 =
      1 << UInt32(Reason.quietHoursDropped.rawValue)
      | 1 << UInt32(Reason.expiresInQuietHours.rawValue)
    return bits & rows != 0
  }

  var first: Reason? {
    bits == 0 ? nil : Reason(rawValue: UInt8(bits.trailingZeroBitCount))
  }
}

extension Suppression {
  var reason: Reason {
    switch self {
    case .legalHold: .suppressedLegalHold
    case .abuseHold: .suppressedAbuseHold
    case .bounced: .suppressedBounced
    }
  }
}

/// Writes the candidates in the order of their creation: security's to their own file, all others to
/// the ordinary one.
struct CandidateWriter {
  let workload: Workload
  let ordinary: LineWriter
  let security: LineWriter

  static let socialSubtypes: [StaticString] = ["like", "comment", "mention", "follow"]
  private static let socialShares = [4500, 3000, 1500, 1000]
  private static let marketingEvents: [StaticString] = ["promotion", "announcement", "winback"]
  private static let marketingShares = [6000, 2500, 1500]
  private static let transactionalEvents: [StaticString] = [
    "order_shipped", "payment_succeeded", "payment_failed",
  ]
  private static let transactionalShares = [5500, 4000, 500]
  private static let securityEvents: [StaticString] = [
    "2fa_code", "login_alert", "suspicious_login", "password_reset", "account_takeover_blocked",
  ]
  private static let securityShares = [6500, 1500, 1000, 900, 100]
  private static let minuteMs = 60_000
  private static let hourMs = 3_600_000

  func writeAll() {
    var random = workload.random(.candidate)
    for i in 0..<workload.candidates where !ordinary.isFailed && !security.isFailed {
      write(i, &random)
    }
  }

  private func write(_ i: Int, _ random: inout Random) {
    let category = random.pick(Shares.categories)
    let out = category == 3 ? security : ordinary
    let user = pickUser(&random)
    out.beginObject()
    out.key("notification_id")
    out.uuid((random.next(), random.next()))
    out.key("user_id")
    out.uuid(workload.userID(user))
    if random.chance(Shares.oneDevice) {
      let device = random.below(workload.deviceCount(user))
      // Sometimes the device is somebody else's.
      let isUnknown = random.chance(Shares.unknownDevice * 10_000 / Shares.oneDevice)
      out.key("device_id")
      out.uuid(workload.deviceID(user: isUnknown ? user + 1 : user, device: device))
    }
    let createdMs = workload.startMs + offsetMs(i)
    switch category {
    case 0: writeSocial(out, createdMs, &random)
    case 1: writeMarketing(out, createdMs, &random)
    case 2: writeTransactional(out, createdMs, &random)
    default: writeSecurity(out, createdMs, &random)
    }
    out.endObject()
    out.endLine()
  }

  /// Evenly over the span, exactly: no floating point that could round otherwise elsewhere.
  private func offsetMs(_ i: Int) -> Int64 {
    let spanMs = UInt64(workload.spanSeconds) * 1000
    let (high, low) = UInt64(i).multipliedFullWidth(by: spanMs)
    return Int64(UInt64(workload.candidates).dividingFullWidth((high, low)).quotient)
  }

  /// Some users are notified far more than others: half of all goes to a quarter of them.
  private func pickUser(_ random: inout Random) -> Int {
    if workload.users == 0 || random.chance(Shares.unknownUser) {
      return workload.users + random.below(1_000_000)
    }
    let draw = random.next() >> 32
    return Int((draw * draw).multipliedFullWidth(by: UInt64(workload.users)).high)
  }

  private func writeSocial(_ out: LineWriter, _ createdMs: Int64, _ random: inout Random) {
    let subtype = random.pick(Self.socialShares)
    out.key("category")
    out.string("social")
    out.key("subtype")
    out.string(
      random.chance(Shares.unregisteredName) ? "poll_result" : Self.socialSubtypes[subtype])
    writeTimes(out, createdMs, share: 4000, 12 * Self.hourMs...48 * Self.hourMs, &random)
    if subtype == 0 && random.chance(6000) {
      collapse(out, "likes:", random.next())
    }
    Payload(out: out).write(Payload.social[subtype], "app://post/", &random)
  }

  private func writeMarketing(_ out: LineWriter, _ createdMs: Int64, _ random: inout Random) {
    let event = random.pick(Self.marketingShares)
    out.key("category")
    out.string("marketing")
    out.key("event")
    out.string(
      random.chance(Shares.unregisteredName) ? "back_in_stock" : Self.marketingEvents[event])
    writeTimes(out, createdMs, share: 7000, 24 * Self.hourMs...72 * Self.hourMs, &random)
    if random.chance(3000) { collapse(out, "campaign:", UInt64(random.below(50))) }
    if random.chance(100) { flag(out, "sms_fallback") }
    Payload(out: out).write(Payload.marketing[event], "app://offer/", &random)
  }

  private func writeTransactional(_ out: LineWriter, _ createdMs: Int64, _ random: inout Random) {
    let event = random.pick(Self.transactionalShares)
    out.key("category")
    out.string("transactional")
    out.key("event")
    out.string(
      random.chance(Shares.unregisteredName)
        ? "delivery_delayed" : Self.transactionalEvents[event])
    writeTimes(out, createdMs, share: 3000, 2 * Self.hourMs...24 * Self.hourMs, &random)
    if event == 0 { collapse(out, "order:", random.next()) }
    if random.chance(1000) { flag(out, "sms_fallback") }
    Payload(out: out).write(Payload.transactional[event], "app://order/", &random)
  }

  private func writeSecurity(_ out: LineWriter, _ createdMs: Int64, _ random: inout Random) {
    let event = random.pick(Self.securityShares)
    out.key("category")
    out.string("security")
    out.key("event")
    out.string(Self.securityEvents[event])
    // A code is good for minutes; an alert stays true.
    if event == 0 {
      writeTimes(out, createdMs, share: 10_000, 5 * Self.minuteMs...10 * Self.minuteMs, &random)
    } else {
      writeTimes(out, createdMs, share: 1000, 24 * Self.hourMs...72 * Self.hourMs, &random)
    }
    // Asked for only where the allow-list grants it: what it refuses is in the hostile lines.
    let isAllowListed = event == 0 || event == 2 || event == 4
    if isAllowListed && random.chance(5000) { flag(out, "critical") }
    if random.chance(5000) { flag(out, "sms_fallback") }
    Payload(out: out).write(Payload.security[event], "app://security/", &random)
  }

  private func writeTimes(
    _ out: LineWriter, _ createdMs: Int64, share: Int, _ lifeMs: ClosedRange<Int>,
    _ random: inout Random
  ) {
    out.key("created_at")
    if random.chance(9000) { out.instant(createdMs) } else { out.integer(Int(createdMs)) }
    if random.chance(Shares.alreadyExpired) {
      out.key("expires_at")
      // Before the first was created: expired whenever the workload is run.
      out.instant(workload.startMs - Int64(1 + random.below(Self.hourMs)))
    } else if random.chance(share) {
      out.key("expires_at")
      let life = lifeMs.lowerBound + random.below(lifeMs.count)
      out.instant(createdMs + Int64(life))
    }
  }

  private func collapse(_ out: LineWriter, _ prefix: StaticString, _ id: UInt64) {
    out.key("collapse_key")
    out.pieces {
      out.raw(prefix)
      out.hex(id, count: 8)
    }
  }

  private func flag(_ out: LineWriter, _ name: StaticString) {
    out.key(name)
    out.literal("true")
  }
}

/// Writes the preference documents: one a user, drawn from that user's own stream.
struct PreferenceWriter {
  let workload: Workload
  let out: LineWriter

  private static let threeYearsMs = 3 * 365 * 86_400_000

  func writeAll() {
    for user in 0..<workload.users where !out.isFailed { write(user) }
  }

  func write(_ user: Int) {
    var random = workload.random(.user, user)
    let home = workload.places.pick(&random)
    out.beginObject()
    out.key("user_id")
    out.uuid(workload.userID(user))
    out.key("version")
    out.integer(1 + random.below(40))
    out.key("account")
    let hasQuietHours = writeAccount(home, &random)
    out.key("devices")
    out.beginArray()
    for device in 0..<workload.deviceCount(user) {
      writeDevice(user, device, home, hasQuietHours, &random)
    }
    out.endArray()
    out.endObject()
    out.endLine()
  }

  /// Returns whether the account has quiet hours, which is when devices have something to differ from.
  private func writeAccount(_ home: Places.Place, _ random: inout Random) -> Bool {
    out.beginObject()
    out.key("categories")
    out.beginObject()
    writeChoice("marketing", Shares.marketing, &random)
    writeChoice("social", Shares.social, &random)
    writeChoice("transactional", Shares.transactional, &random)
    writeChoice("security", Shares.security, &random)
    out.endObject()
    if random.chance(Shares.mutedSubtypes) { writeMutes(&random) }
    let hasQuietHours = random.chance(Shares.quietHours)
    if hasQuietHours {
      out.key("quiet_hours")
      writeWindow(&random)
    }
    if random.chance(Shares.accountTimezone) {
      out.key("timezone")
      out.string(home.timezone)
    }
    out.key("suppressions")
    out.beginArray()
    if random.chance(Shares.legalHold) { out.string("legal_hold") }
    if random.chance(Shares.abuseHold) { out.string("abuse_hold") }
    if random.chance(Shares.bouncedAccount) { out.string("bounced") }
    out.endArray()
    if random.chance(Shares.smsRecord) {
      out.key("sms")
      writeState(random.chance(6000) ? "user-on" : "user-off", "in_app_settings", &random)
    }
    out.endObject()
    return hasQuietHours
  }

  private func writeDevice(
    _ user: Int, _ device: Int, _ home: Places.Place, _ accountHasQuietHours: Bool,
    _ random: inout Random
  ) {
    let place = random.chance(Shares.away) ? workload.places.pick(&random) : home
    let isIOS = random.chance(place.iosShare)
    out.beginObject()
    out.key("device_id")
    out.uuid(workload.deviceID(user: user, device: device))
    out.key("platform")
    out.string(isIOS ? "ios" : "android")
    out.key("os_permission")
    let permissions = isIOS ? Shares.permissionsIOS : Shares.permissionsAndroid
    switch random.pick(permissions) {
    case 0: out.string("granted")
    case 1: out.string("denied")
    default: out.string("provisional")
    }
    out.key("token_status")
    switch random.pick(Shares.tokens) {
    case 0: out.string("active")
    case 1: out.string("expired")
    default: out.string("revoked")
    }
    if !random.chance(Shares.timezoneMissing) {
      out.key("timezone")
      out.string(place.timezone)
    }
    if !random.chance(Shares.regionMissing) {
      out.key("region")
      out.string(place.region)
    }
    out.key("categories")
    out.beginObject()
    if random.chance(Shares.deviceChoice) {
      writeChoice("marketing", Shares.marketing, &random)
      writeChoice("social", Shares.social, &random)
    }
    out.endObject()
    if accountHasQuietHours {
      if random.chance(Shares.quietOnDevice) {
        out.key("quiet_hours")
        writeWindow(&random)
      } else if random.chance(Shares.quietNullOnDevice) {
        out.key("quiet_hours")
        out.literal("null")
      }
    }
    out.key("suppressions")
    out.beginArray()
    if random.chance(Shares.bouncedDevice) { out.string("bounced") }
    out.endArray()
    out.endObject()
  }

  private func writeChoice(
    _ category: StaticString, _ shares: [Int], _ random: inout Random
  ) {
    let nothing = 10_000 - shares.reduce(0, +)
    let choice = random.pick(shares + [nothing])
    if choice == 3 { return }
    out.key(category)
    switch choice {
    case 0 where random.chance(Shares.undatedOptIn):
      out.beginObject()
      out.key("state")
      out.string("user-on")
      out.endObject()
    case 0:
      writeState("user-on", random.chance(9000) ? "in_app_settings" : "os_settings_sync", &random)
    case 1: writeState("user-off", offSource(category, &random), &random)
    default: writeState("default", "in_app_settings", &random)
    }
  }

  private func offSource(_ category: StaticString, _ random: inout Random) -> StaticString {
    switch "\(category)" {
    // From anywhere else it would be refused (requirements C6).
    case "security": "admin_override"
    case "marketing", "social": random.chance(4000) ? "unsubscribe_link" : "in_app_settings"
    default: "in_app_settings"
    }
  }

  private func writeState(
    _ state: StaticString, _ source: StaticString, _ random: inout Random
  ) {
    out.beginObject()
    out.key("state")
    out.string(state)
    out.key("at")
    let at = workload.startMs - Int64(1 + random.below(Self.threeYearsMs))
    // Both forms that records may carry.
    if random.chance(8500) { out.instant(at) } else { out.integer(Int(at)) }
    out.key("source")
    out.string(source)
    out.endObject()
  }

  private func writeMutes(_ random: inout Random) {
    out.key("muted_subtypes")
    out.beginObject()
    out.key("social")
    out.beginArray()
    let muted = 1 + random.below(15)
    for (i, name) in CandidateWriter.socialSubtypes.enumerated() where muted & (1 << i) != 0 {
      out.string(name)
    }
    out.endArray()
    out.endObject()
  }

  /// From some time in the evening to some time in the morning, in steps of a quarter of an hour.
  private func writeWindow(_ random: inout Random) {
    let shape = random.below(10_000)
    var (start, end) = (20 * 60 + 15 * random.below(15), 6 * 60 + 15 * random.below(13))
    if shape < Shares.quietAllDay {
      (start, end) = (0, 24 * 60)
    } else if shape < Shares.quietAllDay + Shares.quietEmpty {
      end = start
    }
    out.beginObject()
    out.key("start")
    clock(start)
    out.key("end")
    clock(end)
    if random.chance(Shares.quietDays) {
      out.key("days")
      out.beginArray()
      let isWeek = random.chance(6000)
      for (i, day) in Self.days.enumerated() where isWeek == (i < 5) { out.string(day) }
      out.endArray()
    }
    out.endObject()
  }

  private static let days: [StaticString] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  private func clock(_ minutes: Int) {
    out.pieces {
      out.digits(minutes / 600)
      out.digits(minutes / 60 % 10)
      out.byte(UInt8(ascii: ":"))
      out.digits(minutes % 60 / 10)
      out.digits(minutes % 10)
    }
  }
}

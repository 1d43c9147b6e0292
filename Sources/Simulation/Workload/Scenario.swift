/// What a world is like, drawn from its seed.
struct Scenario {
  var partitions: Int32
  var users: Int
  /// Milliseconds of the wall for one of the monotonic clock.
  var speed: Int64
  var instances: Int
  var holdHoursMax: Int64
  var horizonHours: Int64
  var spreadSeconds: Int64
  var capCount: Int
  var capWindowSeconds: Int64
  /// The cap is of a day of the user's wall instead.
  var hasDailyCap: Bool
  /// Among the zones is one whose clock goes forward and back.
  var hasChangingZone: Bool
  /// Devices come and go with the documents.
  var losesDevices: Bool
  /// In transactions; else at least once.
  var isExact: Bool
  /// What the wall says when the world begins.
  var wallStartMs: Int64
  /// Of the ordinary lane; nil: no limit.
  var releasesPerSecond: Int64?
  /// So small that holds are dropped from memory and read again.
  var hasScarceMemory: Bool
  var hasSecurityLane: Bool
  var commitIntervalMs: Int64
  var candidateEveryMs: Int64
  var preferenceEveryMs: Int64
  /// Between the decision that a transaction is committed and its markers.
  var markerDelayMs: Int64
  /// From the markers of the offsets to those of the records.
  var markerSpreadMs: Int64

  /// 2026-03-02T00:00:00Z, or near it.
  static let wallStartMs: Int64 = 1_772_409_600_000

  init(seed: UInt64) {
    var random = SimRandom(seed: seed, stream: 3)
    partitions = Int32(1 + random.below(3))
    users = 2 + random.below(6)
    speed = random.pick([60, 200, 600])
    instances = 1 + random.below(3)
    holdHoursMax = Int64(1 + random.below(2))
    horizonHours = holdHoursMax + Int64(random.below(2))
    spreadSeconds = random.pick([0, 60, 600])
    capCount = 1 + random.below(8)
    capWindowSeconds = random.pick([600, 1_800, 3_600])
    releasesPerSecond = random.chance(30) ? Int64(random.pick([5, 20])) : nil
    hasScarceMemory = random.chance(20)
    hasSecurityLane = random.chance(30)
    commitIntervalMs = random.pick([10, 100, 100])
    candidateEveryMs = random.pick([20, 50, 150])
    preferenceEveryMs = random.pick([300, 800, 2_000])
    markerSpreadMs = random.chance(30) ? random.within(1...300) : 0
    markerDelayMs = random.chance(30) ? random.within(1...300) : 0
    var more = SimRandom(seed: seed, stream: 8)
    hasDailyCap = more.chance(30)
    hasChangingZone = more.chance(40)
    losesDevices = more.chance(30)
    // A midnight is to come.
    wallStartMs = Self.wallStartMs - (hasDailyCap ? more.within(0...180) * 60_000 : 0)
    isExact = !more.chance(12)
  }

  var zones: [String] { SimZones.fixed + (hasChangingZone ? [SimZones.changing] : []) }

  /// How long an approval matters to the cap; a day of somebody's wall is over after two.
  var capMemorySeconds: Int64 { hasDailyCap ? 50 * 3_600 : capWindowSeconds }

  func policy() -> String {
    func rules(_ quiet: String, _ caps: String, registry: String = "[]") -> String {
      """
      {"quiet_hours_rule":"\(quiet)","on_invalid_window":"outside","default":"on",
      "regulated_default":"on","lawful_basis":{"basis":"contract","words":"simulated"},
      "caps":[\(caps)],"registry":\(registry),"mutable_subtypes":[]}
      """
    }
    let style =
      hasDailyCap
      ? #""calendar_day""# : #""sliding","window_seconds":\#(capWindowSeconds)"#
    let cap = #"{"name":"few","count":\#(capCount),"style":\#(style)}"#
    return """
      {"version":"sim","categories":{"transactional":\(rules("defer", cap)),
      "security":\(rules("bypass", "")),"social":\(rules("drop", cap)),
      "marketing":\(rules("drop", ""))},"bypass_events":[],"critical_allow_list":[],
      "suppressions":{"legal_hold":[],"abuse_hold":[],"bounced":[]},
      "regions_regulated_additional":[],"fallback_timezone":"Sim/Zero","payload_bytes_max":4096,
      "record_bytes_max":65536,"hold_hours_max":\(holdHoursMax),
      "duplicates_horizon_hours":\(horizonHours),"duplicates_entries_max":1000000,
      "caps_entries_max":1000000,"preferences_stale_seconds_max":
      {"ordinary":\(SimTimes.staleMs / 1000),"security":null},"permission_prompt_moments":[]}
      """
  }
}

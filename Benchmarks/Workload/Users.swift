import Gate

/// Users in believable shares, each a function of the seed and its number: nothing is kept of them.
public struct Users: Sendable {
  let seed: UInt64

  public init(seed: UInt64) { self.seed = seed }

  /// As long as a UUID.
  public func id(_ user: Int) -> String {
    var random = Random(seed: seed ^ UInt64(user))
    let digits = String(random.next() >> 8, radix: 16)
    return "user-\(String(repeating: "0", count: 14 - digits.count))\(digits)-\(user)"
  }

  /// One device for most, two for some, more for a few: 1.36 on the average.
  public func deviceCount(_ user: Int) -> Int {
    var random = Random(seed: seed &+ 1 ^ UInt64(user))
    let draw = random.below(1_000)
    return draw < 720 ? 1 : draw < 940 ? 2 : draw < 990 ? 3 : 4
  }

  public func document(_ user: Int) -> String {
    var random = Random(seed: seed &+ 2 ^ UInt64(user))
    let place = Places.all[random.below(Places.all.count)]
    var devices: [String] = []
    for device in 0..<deviceCount(user) {
      devices.append(
        """
        {"device_id":"\(deviceID(user, device))","platform":"\(device % 2 == 0 ? "ios" : "android")",\
        "os_permission":"\(permission(&random))","token_status":"\(token(&random))",\
        "timezone":"\(place.zone)","region":"\(place.region)",\
        "categories":{\(random.perMille(40) ? Self.off("social") : "")},"suppressions":[]}
        """)
    }
    let window = random.perMille(300) ? #","quiet_hours":{"start":"22:00","end":"08:00"}"# : ""
    let muted = random.perMille(30) ? #","muted_subtypes":{"social":["like"]}"# : ""
    let held = random.perMille(5) ? #","suppressions":["abuse_hold"]"# : ""
    return """
      {"user_id":"\(id(user))","version":\(1 + random.below(200)),"account":{"categories":{\
      \(marketing(&random))},"timezone":"\(place.zone)"\(window)\(muted)\(held)},\
      "devices":[\(devices.joined(separator: ","))]}
      """
  }

  func deviceID(_ user: Int, _ device: Int) -> String { "device-\(user)-\(device)" }

  private func permission(_ random: inout Random) -> String {
    let draw = random.below(1_000)
    return draw < 850 ? "granted" : draw < 970 ? "denied" : "provisional"
  }

  private func token(_ random: inout Random) -> String {
    let draw = random.below(1_000)
    return draw < 940 ? "active" : draw < 980 ? "expired" : "revoked"
  }

  private func marketing(_ random: inout Random) -> String {
    let draw = random.below(1_000)
    if draw < 150 { return Self.off("marketing") }
    if draw < 350 {
      return """
        "marketing":{"state":"user-on","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}
        """
    }
    return ""
  }

  private static func off(_ category: String) -> String {
    "\"\(category)\":{\"state\":\"user-off\",\"at\":\"2025-10-01T09:00:00Z\",\"source\":\"in_app_settings\"}"
  }
}

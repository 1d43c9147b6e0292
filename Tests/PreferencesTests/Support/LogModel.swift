import Gate

@testable import Preferences

/// What documents say, worked out from the whole set of events at once: for each field the events
/// about it are sorted and the last one read off. Shares no merging, no state and no writer with the
/// machine; says each fact as a path and a text.
struct LogModel {
  let events: [PreferenceEvent]

  func facts(of user: Identifier) -> [String: String] {
    let own = events.filter { $0.userID == user }
    var facts = ["user_id": user.text]
    scopeFacts(own, .account, "account", into: &facts)

    for subtype in ["like", "mention"] as [Identifier] {
      let newest = own.compactMap { event -> (Int64, Int)? in
        guard case .subtypeMuteSet(let of, let isMuted) = event.body, of.name == subtype else {
          return nil
        }
        return (event.atMs, isMuted ? 1 : 0)
      }.max { $0 < $1 }
      if newest?.1 == 1 { facts["account.muted_subtypes.social.\(subtype)"] = "muted" }
    }
    let zone = own.compactMap { event -> (Int64, String)? in
      guard case .timezoneSet(let zone) = event.body else { return nil }
      // Earlier in the alphabet stays at one instant, and none comes last.
      return (event.atMs, zone.zone?.text ?? "~")
    }.max { $0.0 != $1.0 ? $0.0 < $1.0 : $0.1 > $1.1 }
    if let zone, zone.1 != "~" { facts["account.timezone"] = zone.1 }
    let sms = own.compactMap { event -> Made? in
      guard case .smsConsentSet(let state) = event.body else { return nil }
      return Made(event, state)
    }.max()
    if let sms { sms.write("account.sms", into: &facts) }

    for device in RandomEvents.devices where isPresent(device, user) {
      let path = "devices.\(device)"
      facts["\(path).device_id"] = device.text
      deviceFacts(own, device, path, into: &facts)
      scopeFacts(own, .device(device), path, into: &facts)
    }
    return facts
  }

  /// The latest claim of all users is this one's, and no removal is as late as its last.
  func isPresent(_ device: Identifier, _ user: Identifier) -> Bool {
    let claims = events.compactMap { event -> (at: Int64, user: String)? in
      guard case .deviceSeen(device, _, _) = event.body else { return nil }
      return (event.atMs, event.userID.text)
    }.sorted { $0.at != $1.at ? $0.at < $1.at : $0.user > $1.user }
    guard let last = claims.last, last.user == user.text else { return false }
    return !events.contains {
      $0.body == .deviceRemoved(device) && $0.userID == user && $0.atMs >= last.at
    }
  }

  private func deviceFacts(
    _ own: [PreferenceEvent], _ device: Identifier, _ path: String,
    into facts: inout [String: String]
  ) {
    let permissions = ["denied": 2, "provisional": 1, "granted": 0]
    let synced = own.compactMap { event -> (key: [String], sync: DeviceSync)? in
      guard case .deviceSeen(device, let sync, _) = event.body else { return nil }
      // A key that grows with time, then strictness; texts that stay on ties come first, so they are
      // turned round.
      let strict = permissions["\(sync.osPermission.name)"]!
      return (
        [
          "\(event.atMs)", "\(strict)", sync.platform == .ios ? "1" : "0",
          turned(sync.region?.text), turned(sync.timezone?.text),
        ], sync
      )
    }.max { $0.key.lexicographicallyPrecedes($1.key) }!.sync
    facts["\(path).platform"] = synced.platform == .ios ? "ios" : "android"
    facts["\(path).os_permission"] = "\(synced.osPermission.name)"
    facts["\(path).timezone"] = synced.timezone?.text
    facts["\(path).region"] = synced.region?.text

    let token = own.compactMap { event -> (Int64, Int)? in
      switch event.body {
      case .deviceSeen(device, _, .some(let status)): (event.atMs, status == .active ? 0 : 2)
      case .tokenFeedback(device, .apns, "Unregistered"),
        .tokenFeedback(device, .fcm, "UNREGISTERED"):
        (event.atMs, 1)
      default: nil
      }
    }.max { $0 < $1 }
    facts["\(path).token_status"] = ["active", "expired", "revoked"][token?.1 ?? 0]
  }

  /// Sorts the other way, with nothing last.
  private func turned(_ text: String?) -> String {
    guard let text else { return "\u{7F}" }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { .init(UInt8(0x7E - $0.value + 0x20)) }))
  }

  private func scopeFacts(
    _ own: [PreferenceEvent], _ scope: PreferenceScope, _ path: String,
    into facts: inout [String: String]
  ) {
    for category in Category.allCases {
      choice(own, scope, category)?.write("\(path).categories.\(category.name)", into: &facts)
    }
    let window = own.compactMap { event -> (Int64, Int)? in
      guard case .quietHoursSet(scope, let window) = event.body else { return nil }
      switch window {
      case .inherited: return (event.atMs, 0)
      case .none: return (event.atMs, 1)
      // The one that starts first.
      case .window(let start, _, _): return (event.atMs, start == 0 ? 3 : 2)
      }
    }.max { $0 < $1 }
    switch window?.1 {
    case 3:
      facts["\(path).quiet_hours.start"] = "00:00"
      facts["\(path).quiet_hours.end"] = "24:00"
      facts["\(path).quiet_hours.days"] = "mon,tue,wed,thu,fri"
    case 2:
      facts["\(path).quiet_hours.start"] = "22:00"
      facts["\(path).quiet_hours.end"] = "08:00"
    case 1 where scope != .account: facts["\(path).quiet_hours"] = "null"
    default: break
    }
    for suppression in Suppression.allCases {
      let newest = own.compactMap { event -> (Int64, Int)? in
        switch event.body {
        case .suppressionSet(scope, suppression): (event.atMs, 1)
        case .suppressionCleared(scope, suppression): (event.atMs, 0)
        case .tokenFeedback(let device, .fcm, "INVALID_ARGUMENT")
        where scope == .device(device) && suppression == .bounced:
          (event.atMs, 1)
        default: nil
        }
      }.max { $0 < $1 }
      if newest?.1 == 1 { facts["\(path).suppressions.\(suppression.name)"] = "set" }
    }
  }

  private func choice(
    _ own: [PreferenceEvent], _ scope: PreferenceScope, _ category: Category
  ) -> Made? {
    var made: [Made] = []
    var links: [(at: Int64, muted: Int)] = []
    for event in own {
      if event.body == .linkUndone(category), scope == .account { links.append((event.atMs, 0)) }
      guard case .choiceSet(scope, category, let state) = event.body else { continue }
      if event.source == .unsubscribeLink {
        links.append((event.atMs, 1))
      } else if category != .security || state != .userOff || event.source == .adminOverride {
        made.append(Made(event, state))
      }
    }
    if let link = links.max(by: { $0 < $1 }), link.muted == 1 {
      made.append(Made(atMs: link.at, state: .userOff, source: .unsubscribeLink))
    }
    return made.max()
  }

  /// A choice in the order of what stays.
  struct Made: Comparable {
    var atMs: Int64
    var state: Choice
    var source: ChoiceSource

    init(atMs: Int64, state: Choice, source: ChoiceSource) {
      self.atMs = atMs
      self.state = state
      self.source = source
    }

    init(_ event: PreferenceEvent, _ state: Choice) {
      self.init(atMs: event.atMs, state: state, source: event.source!)
    }

    static func < (a: Made, b: Made) -> Bool {
      let strictness: [Choice] = [.userOn, .unset, .userOff]
      let sources: [ChoiceSource] = [
        .adminOverride, .unsubscribeLink, .osSettingsSync, .inAppSettings,
      ]
      let x = [
        a.atMs, Int64(strictness.firstIndex(of: a.state)!),
        Int64(sources.firstIndex(of: a.source)!),
      ]
      let y = [
        b.atMs, Int64(strictness.firstIndex(of: b.state)!),
        Int64(sources.firstIndex(of: b.source)!),
      ]
      return x.lexicographicallyPrecedes(y)
    }

    func write(_ path: String, into facts: inout [String: String]) {
      facts["\(path).state"] = "\(state.name)"
      facts["\(path).at"] = Instant.text(atMs)
      facts["\(path).source"] = "\(source.name)"
    }
  }
}

/// A document as paths and texts: devices by their ids, lists of names as members.
func documentFacts(_ text: String) -> [String: String] {
  var facts: [String: String] = [:]
  func walk(_ value: JSONValue, _ path: String) {
    switch value {
    case .object(let members):
      for member in members where !(path.isEmpty && member.name == "version") {
        walk(member.value, path.isEmpty ? member.name : "\(path).\(member.name)")
      }
    case .array(let elements) where path == "devices":
      for element in elements {
        guard case .object(let members) = element, case .string(let id) = members[0].value else {
          facts["devices"] = "malformed"
          continue
        }
        walk(element, "devices.\(id)")
      }
    case .array(let elements):
      let names = elements.map { element in
        if case .string(let text) = element { text } else { "?" }
      }
      if path.hasSuffix("days") {
        facts[path] = names.joined(separator: ",")
      } else {
        let word = path.hasSuffix("suppressions") ? "set" : "muted"
        for name in names { facts["\(path).\(name)"] = word }
      }
    case .string(let text): facts[path] = text
    default: facts[path] = value.text
    }
  }
  let tree = withBytes(text) { try? JSONValue($0) }
  if let tree { walk(tree, "") }
  return facts
}

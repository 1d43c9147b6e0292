@testable import Gate

/// All that a decision from row 6 on depends on, each value one of a few: the small space that is
/// gone through whole.
struct Situation {
  /// What a `user-on` brings with it.
  enum Consent: CaseIterable { case dated, withoutTime, withoutSource, inTheFuture }
  /// The window in force at `nowMs`, in UTC.
  enum Window: CaseIterable { case none, outside, inside, endless, invalid }
  /// What the policy lets the candidate's event pass.
  enum Bypass: String, CaseIterable { case nothing, choice, quiet, both }
  /// `expires_at`, seen from the instant until which a window would hold the candidate.
  enum Expiry: CaseIterable { case never, justBefore, exactly, justAfter }

  var category = Category.transactional
  var account = Choice.unset
  var device = Choice.unset
  var consent = Consent.dated
  var isDefaultOn = true
  var isRegulated = false
  var permission = OSPermission.granted
  var token = TokenStatus.active
  var suppression: Suppression?
  var isDuplicate = false
  var window = Window.none
  var rule = Policy.QuietHoursRule.bypass
  var dropsOnInvalidWindow = false
  var bypass = Bypass.nothing
  var isMuted = false
  var expiry = Expiry.never

  static let nowMs = instant("2026-03-09T12:00:00Z") * 1000
  /// 11:00 to 13:00 is the window inside which noon lies, 22:00 to 08:00 the one outside which.
  static let insideEndsMs = instant("2026-03-09T13:00:00Z") * 1000
  static let outsideStartsMs = instant("2026-03-09T22:00:00Z") * 1000
  static let holdHours: Int64 = 72

  /// When a hold would end, were there one.
  var heldUntilMs: Int64 {
    window == .endless ? Self.nowMs + Self.holdHours * 3_600_000 : Self.insideEndsMs
  }

  var expiresAtMs: Int64? {
    switch expiry {
    case .never: nil
    case .justBefore: heldUntilMs - 1
    case .exactly: heldUntilMs
    case .justAfter: heldUntilMs + 1
    }
  }

  /// The part of it that is the user's document, by one choice for every category.
  func document(of user: String) -> String {
    let categories = { (choice: Choice) -> String in
      let one = choiceJSON(choice)
      return Category.allCases.map { "\"\($0.name)\":\(one)" }.joined(separator: ",")
    }
    let mutes = Category.allCases.map { "\"\($0.name)\":[\"muted\"]" }.joined(separator: ",")
    return """
      {"user_id":"\(user)","account":{"categories":{\(categories(account))},\
      "quiet_hours":\(windowJSON)\(isMuted ? ",\"muted_subtypes\":{\(mutes)}" : "")},\
      "devices":[{"device_id":"d","platform":"ios","os_permission":"\(permission.name)",\
      "token_status":"\(token.name)","timezone":"Etc/UTC","region":"\(isRegulated ? "DE" : "US")",\
      "suppressions":[\(suppression.map { "\"\($0.name)\"" } ?? "")],\
      "categories":{\(categories(device))}}]}
      """
  }

  private func choiceJSON(_ choice: Choice) -> String {
    if choice == .userOff { return #"{"state":"user-off","source":"admin_override"}"# }
    let (before, after) = (#""2026-03-09T12:00:00Z""#, #""2026-03-09T12:00:00.001Z""#)
    let evidence =
      switch consent {
      case .dated: #","at":\#(before),"source":"in_app_settings""#
      case .withoutTime: #","source":"in_app_settings""#
      case .withoutSource: #","at":\#(before)"#
      case .inTheFuture: #","at":\#(after),"source":"in_app_settings""#
      }
    return "{\"state\":\"\(choice.name)\"\(evidence)}"
  }

  private var windowJSON: String {
    switch window {
    case .none: "null"
    case .outside: #"{"start":"22:00","end":"08:00"}"#
    case .inside: #"{"start":"11:00","end":"13:00"}"#
    case .endless: #"{"start":"00:00","end":"24:00"}"#
    case .invalid: #"{"start":"25:00","end":"08:00"}"#
    }
  }
}

import CCrypto
import Gate
import Preferences

/// What the pages change, as events. Their ids come of the token and of what the form tells with it, so
/// that the same request of a page, sent again, was seen already and changes nothing.
struct LinkActions: Sendable {
  let service: PreferenceService
  let nowMs: @Sendable () -> Int64

  func mute(
    _ category: Category, of user: UserPreferences, token: String, once: String?
  ) throws(StoreError) -> EventAnswer {
    try service.apply(Self.mute(category, of: user, [token, once ?? ""], nowMs: nowMs()))
  }

  /// By RFC 8058, behind which is somebody who pressed a button just now, not a page that was loaded
  /// again: where the link was used before and the category is on, it mutes once more.
  func muteByOneClick(
    _ category: Category, of user: UserPreferences, token: String
  ) throws(StoreError) -> EventAnswer {
    let first = try mute(category, of: user, token: token, once: nil)
    guard first.isRepeat else { return first }
    let nowMs = nowMs()
    let again = try service.apply(of: user.userID) { user in
      guard let user, user.account.choices[category]?.state != .userOff else { return [] }
      return [Self.mute(category, of: user, [token, Self.newOnce()], nowMs: nowMs)]
    }
    return again.first ?? first
  }

  private static func mute(
    _ category: Category, of user: UserPreferences, _ idParts: [String], nowMs: Int64
  ) -> PreferenceEvent {
    PreferenceEvent(
      eventID: eventID(idParts), userID: user.userID, atMs: nowMs, isOfNow: true,
      source: .unsubscribeLink, body: .choiceSet(.account, category, .userOff))
  }

  func undo(
    _ category: Category, of user: UserPreferences, token: String, once: String?
  ) throws(StoreError) -> EventAnswer {
    try service.apply(
      PreferenceEvent(
        eventID: Self.eventID([token, once ?? ""]), userID: user.userID, atMs: nowMs(),
        isOfNow: true, source: .unsubscribeLink, body: .linkUndone(category)))
  }

  /// Off is a choice of the account. On is one too, and takes away what stands in its way on the
  /// devices, since any off is stricter than an on elsewhere. All of it or nothing, of the devices as they
  /// are then; what is sent again does not reach devices that have chosen off since.
  func set(
    _ category: Category, on: Bool, of user: UserPreferences, token: String, once: String
  ) throws(StoreError) {
    let nowMs = nowMs()
    _ = try service.apply(of: user.userID) { user in
      guard let user else { return [] }
      func event(_ scope: PreferenceScope, _ idParts: [String]) -> PreferenceEvent {
        PreferenceEvent(
          eventID: Self.eventID(idParts + ["\(category.name)"]), userID: user.userID, atMs: nowMs,
          isOfNow: true, source: .inAppSettings,
          body: .choiceSet(scope, category, on ? .userOn : .userOff))
      }
      let account = event(.account, [token, once])
      guard on else { return [account] }
      return [account]
        + user.devices.sorted { $0.key < $1.key }
        .filter { $0.value.isPresent && $0.value.choices[category]?.state == .userOff }
        .map { id, _ in event(.device(id), [token, once, id.text]) }
    }
  }

  /// A hash: the token itself must not stand in the audit, where it could be used. No part can hold the
  /// NUL between them.
  static func eventID(_ parts: [String]) -> Identifier {
    let text = Array(parts.joined(separator: "\0").utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    cc_sha256(text, text.count, &digest)
    return Identifier("page-" + Hex.text(digest))
  }

  /// A text that no form has told before.
  static func newOnce() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard cc_random(&bytes, bytes.count) == 0 else {
      preconditionFailure("the system gives no random bytes")
    }
    return Hex.text(bytes)
  }

  /// What `newOnce` makes; anything else in a form is none of ours.
  static func isOnce(_ text: String) -> Bool {
    text.utf8.count == 32 && Hex.bytes(text) != nil
  }
}

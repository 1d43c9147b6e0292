import Gate

/// What an approval asks of a dispatcher.
struct Approval: Equatable {
  enum Platform: String {
    case ios, android
  }

  enum Interruption: String {
    case critical, active, passive
    case timeSensitive = "time-sensitive"
  }

  var notificationID: String
  var userID: String
  var deviceID: String
  var platform: Platform
  var interruption: Interruption
  /// Milliseconds since the epoch, as the one below.
  var expiresAtMs: Int64?
  var sendBeforeMs: Int64?
  var collapseKey: String?
  var unsubscribeURL: String?
  var allowsSMS = false

  var id: SendID {
    SendID(userID: userID, notificationID: notificationID, deviceID: deviceID)
  }

  /// Until when the provider may deliver it to a phone that is off: the limit binds delivery, not
  /// only the call. Nil: no limit.
  var goodUntilMs: Int64? {
    guard let expiresAtMs, let sendBeforeMs else { return expiresAtMs ?? sendBeforeMs }
    return min(expiresAtMs, sendBeforeMs)
  }
}

/// What a receipt tells somebody who wants to know whether a send has been made.
struct ReceiptHead: Equatable {
  var id: SendID
  /// A provider's answer, not a report that somebody saw the notification.
  var isAnswer: Bool
}

/// Reads the two topics that a dispatcher reads.
struct DispatchRecords: ~Copyable {
  /// A candidate of the largest size, and what the gate and the escapes in its ids add to it.
  private var members = StringMembers(bytesMax: 65_536 + 32_768)

  /// Nil where it is no approval.
  mutating func approval(_ value: UnsafeRawBufferPointer?) -> Approval? {
    guard let found = strings(value), found["outcome"] == "approved",
      let notificationID = found["notification_id"], let userID = found["user_id"],
      let deviceID = found["device_id"],
      let platform = found["platform"].flatMap(Approval.Platform.init),
      let interruption = found["interruption"].flatMap(Approval.Interruption.init)
    else { return nil }
    var approval = Approval(
      notificationID: notificationID, userID: userID, deviceID: deviceID, platform: platform,
      interruption: interruption)
    for (name, path) in [
      ("expires_at", \Approval.expiresAtMs), ("send_before", \Approval.sendBeforeMs),
    ] {
      guard let text = found[name] else { continue }
      // A limit that cannot be read is not none: whoever ignored it might wake somebody.
      guard let ms = Instant.parse(text: text) else { return nil }
      approval[keyPath: path] = ms
    }
    approval.collapseKey = found["collapse_key"]
    approval.unsubscribeURL = found["unsubscribe_url"]
    // Anything but the one word is a no.
    approval.allowsSMS = found["sms_fallback"] == "allowed"
    return approval
  }

  /// Nil where it is no receipt.
  mutating func receipt(_ value: UnsafeRawBufferPointer?) -> ReceiptHead? {
    guard let found = strings(value), let notificationID = found["notification_id"],
      let userID = found["user_id"], let deviceID = found["device_id"]
    else { return nil }
    return ReceiptHead(
      id: SendID(userID: userID, notificationID: notificationID, deviceID: deviceID),
      isAnswer: found["status"] != nil)
  }

  private mutating func strings(_ value: UnsafeRawBufferPointer?) -> [String: String]? {
    guard let value else { return nil }
    var found: [String: String] = [:]
    let isObject = members.read(value) { name, text in
      found[String(decoding: name, as: UTF8.self)] = String(decoding: text, as: UTF8.self)
    }
    return isObject ? found : nil
  }
}

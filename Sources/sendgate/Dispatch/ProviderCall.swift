import Telemetry

/// One call to a provider as a line of JSON, in the provider's own names (docs/dispatcher.md, rule 5).
/// The notification's payload is left out: it is the user's.
enum ProviderCall {
  /// FCM keeps a message for four weeks at most.
  private static let ttlSecondsMax: Int64 = 28 * 86_400

  static func push(_ approval: Approval, _ answer: StubProvider.Answer, nowMs: Int64) -> String {
    JSONLine.make { line in
      line.add("provider", approval.platform.provider)
      line.add("id", approval.id.uuid)
      head(&line, approval, nowMs)
      line.add("device_id", approval.deviceID)
      switch approval.platform {
      case .ios: apns(&line, approval)
      case .android: fcm(&line, approval, nowMs)
      }
      line.add("unsubscribe_url", approval.unsubscribeURL)
      line.add("answer", answer.code ?? "accepted")
    }
  }

  /// In the push's place. Its id has no device in it: one to a user is enough for whoever recognises
  /// a repeated one.
  static func sms(_ approval: Approval, after answer: StubProvider.Answer, nowMs: Int64) -> String {
    JSONLine.make { line in
      line.add("provider", "sms")
      let id = SendID(
        userID: approval.userID, notificationID: approval.notificationID, deviceID: nil)
      line.add("id", id.uuid)
      head(&line, approval, nowMs)
      line.add("because", answer.code)
    }
  }

  private static func head(_ line: inout JSONLine, _ approval: Approval, _ nowMs: Int64) {
    line.add("at", RFC3339.text(ms: nowMs))
    line.add("user_id", approval.userID)
    line.add("notification_id", approval.notificationID)
  }

  private static func apns(_ line: inout JSONLine, _ approval: Approval) {
    line.add("headers") { headers in
      headers.add("apns-id", approval.id.uuid)
      headers.add("apns-push-type", "alert")
      headers.add("apns-priority", approval.interruption == .passive ? "5" : "10")
      // Whole seconds, cut: later by a part of one would be too late.
      headers.add("apns-expiration", approval.goodUntilMs.map { "\($0 / 1_000)" })
      headers.add("apns-collapse-id", approval.collapseKey)
    }
    line.add("aps") { aps in
      aps.add("interruption-level", approval.interruption.rawValue)
      if approval.interruption == .critical {
        aps.add("sound") { sound in
          sound.add("critical", number: 1)
          sound.add("name", "default")
        }
      }
    }
  }

  private static func fcm(_ line: inout JSONLine, _ approval: Approval, _ nowMs: Int64) {
    line.add("android") { android in
      android.add("priority", approval.interruption.isUrgent ? "HIGH" : "NORMAL")
      // Nothing is sent at or past the limit, so that this is never below zero.
      android.add(
        "ttl", approval.goodUntilMs.map { "\(min(($0 - nowMs) / 1_000, ttlSecondsMax))s" })
      android.add("collapse_key", approval.collapseKey)
      android.add("notification") { $0.add("channel_id", approval.interruption.channel) }
    }
  }
}

extension Approval.Platform {
  /// As receipts name it.
  var provider: String {
    switch self {
    case .ios: "apns"
    case .android: "fcm"
    }
  }
}

extension Approval.Interruption {
  fileprivate var isUrgent: Bool { self == .critical || self == .timeSensitive }

  /// Android has no level of a message; the channel has one.
  fileprivate var channel: String {
    switch self {
    case .critical: "critical"
    case .timeSensitive: "time_sensitive"
    case .active: "default"
    case .passive: "silent"
    }
  }
}

extension StubProvider.Answer {
  /// The provider's own word; nil where it accepted.
  var code: String? {
    switch self {
    case .accepted: nil
    case .unregistered(let code), .rejected(let code): code
    }
  }
}

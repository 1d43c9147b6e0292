import Telemetry

/// Records of `notifications.receipts` (receipt.schema.json).
enum Receipt {
  /// A provider's answer. `accepted` means accepted by the provider and nothing more (requirements R1).
  static func answer(
    _ answer: StubProvider.Answer, to approval: Approval, nowMs: Int64
  ) -> String {
    JSONLine.make { line in
      ids(&line, approval)
      line.add("provider", approval.platform.provider)
      if let code = answer.code {
        line.add("status", "rejected")
        line.add("code", code)
      } else {
        line.add("status", "accepted")
        line.addNull("code")
      }
      line.add("at", RFC3339.text(ms: nowMs))
    }
  }

  /// The user showed to have seen it (requirements R2).
  static func observed(
    _ observation: StubProvider.Observation, _ approval: Approval, nowMs: Int64
  ) -> String {
    JSONLine.make { line in
      ids(&line, approval)
      line.add("event", "user_observed")
      line.add("via", observation.rawValue)
      line.add("at", RFC3339.text(ms: nowMs))
    }
  }

  private static func ids(_ line: inout JSONLine, _ approval: Approval) {
    line.add("notification_id", approval.notificationID)
    line.add("device_id", approval.deviceID)
    line.add("user_id", approval.userID)
  }
}

/// One decision and everything that was looked at to make it.
struct Decision {
  var outcome: Outcome
  var reason: Reason
  /// Bit `r`: the dropping reason of that raw value holds. Zero where approved or deferred.
  var blockedBy: UInt32 = 0
  /// Nil for rows 1 to 5, which concern the candidate alone.
  var device: DeviceEvidence?
  var deliverAfterMs: Int64?
  /// Where row 14 holds: the policy's cap that frees up last, and when.
  var cap: UnsafePointer<Cap>?
  var capFreesAtMs: Int64 = 0
  /// An approval is for now, not for whenever a dispatcher gets to it (requirements X11).
  var sendBeforeMs: Int64?
  var interruption = Interruption.active
  var smsAllowed = false

  /// Dropped for what the candidate itself is: one reason, nothing later looked at.
  static func drop(_ reason: Reason) -> Decision {
    Decision(outcome: .dropped, reason: reason, blockedBy: 1 << UInt32(reason.rawValue))
  }
}

/// The five values (requirements C7, S3), as they were for one device.
struct DeviceEvidence {
  /// Position in the document.
  var index: Int
  var accountChoice: Choice
  var deviceChoice: Choice
  /// Whether the choice leaves the category on.
  var effective: Bool
  var osPermission: OSPermission
  var tokenStatus: TokenStatus
  var platform: Platform
  /// The strictest carried, whether it blocks this category or not.
  var suppression: Suppression?
  var quietHours: QuietHours
}

/// The window in force and where the instant stands in it.
struct QuietHours {
  enum ZoneSource: UInt8 {
    case device, account, fallback

    var name: StaticString {
      switch self {
      case .device: "device"
      case .account: "account"
      case .fallback: "fallback"
      }
    }
  }

  /// Nil where there is no window, or one that cannot be read.
  var window: QuietWindow?
  var isInvalid = false
  var zone: UInt16
  var zoneSource: ZoneSource
  var isInside = false
  /// Nil outside, and where the window does not end within eight days.
  var endsAtMs: Int64?
}

/// How loudly the device is told (APNs names).
enum Interruption: UInt8 {
  case passive, active, timeSensitive, critical

  var name: StaticString {
    switch self {
    case .passive: "passive"
    case .active: "active"
    case .timeSensitive: "time-sensitive"
    case .critical: "critical"
    }
  }
}

import Gate

/// A record of one of the output topics, as the checkers read it.
struct Decision {
  /// Of whoever made it, and when that process started.
  var lane: Lane
  var startedAtMs: Int64
  var topic: String
  var partition: Int32
  var offset: Int64
  /// Its place among everything that the gates did.
  var order: Int64
  /// When the loop's turn began that made it.
  var turnMs: Int64
  /// What came along with the candidate.
  var carried: String
  var outcome: String
  var reason: String
  var number: Int
  var user: String
  var notification: String
  /// Empty: the candidate itself.
  var device: String
  var decidedAtMs: Int64
  var deliverAfterMs: Int64?
  var preferenceOffset: Int64?
  var zones: String
  /// The first decision's instant, of what comes of a hold.
  var heldSinceMs: Int64?
  var supersededBy: String?

  var holdKey: Ledger.HoldKey {
    Ledger.HoldKey(user: user, notification: notification, device: device)
  }

  /// Nil where it is not what the contract says.
  init?(
    by maker: LaneNotes, topic: String, partition: Int32, offset: Int64, order: Int64,
    turnMs: Int64, carried: String, value: [UInt8]
  ) {
    guard let json = SimJSON.read(value), let outcome = json["outcome"]?.string,
      let reason = json["reason"]?.string, let user = json["user_id"]?.string,
      let notification = json["notification_id"]?.string,
      let decidedAtMs = json["decided_at"]?.instantMs, let zones = json["tzdb_version"]?.string,
      let number = json["notification"]?["payload"]?["n"]?.number
    else { return nil }
    (lane, startedAtMs) = (maker.lane, maker.startedAtMs)
    (self.topic, self.partition, self.offset, self.order) = (topic, partition, offset, order)
    (self.turnMs, self.carried) = (turnMs, carried)
    (self.outcome, self.reason, self.user, self.notification) = (
      outcome, reason, user, notification
    )
    self.decidedAtMs = decidedAtMs
    self.zones = zones
    self.number = Int(number)
    device = json["device_id"]?.string ?? ""
    deliverAfterMs = json["deliver_after"]?.instantMs
    preferenceOffset = json["preference_offset"]?.number
    heldSinceMs = json["held"]?["decided_at"]?.instantMs
    supersededBy = json["superseded_by"]?.string
  }

  /// In one line, for whoever reads what went wrong.
  var words: String {
    "\(outcome) \(reason) of \(notification) (candidate \(number)) for \(user)/\(device) at "
      + "\(topic)-\(partition)@\(offset), at \(decidedAtMs), step \(order)"
  }
}

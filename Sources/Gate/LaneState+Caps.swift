/// What a lane counts against the policy's caps (decision, row 14). Whoever approves asks first, with
/// `capView`, tells of the approval with `countApproval`, and, where that is news, writes the record that
/// `writeCapRecord` makes in the transaction of the approval.
extension LaneState {
  /// Under which names the counters know a candidate; nil where its category is not capped.
  @inline(__always)
  func capAsk(_ candidate: Candidate) -> CapAsk? {
    guard countsCaps, let category = candidate.category, rules.isCapped(category) else {
      return nil
    }
    return capAsk(candidate.userID!, category, candidate.notificationID!)
  }

  func capAsk(_ user: Bytes, _ category: Category, _ notification: Bytes) -> CapAsk {
    var counter = hash(user)
    counter.first ^= (UInt64(category.rawValue) + 1) &* 0x9E37_79B9_7F4A_7C15
    return CapAsk(counter: counter, id: hash(notification).first)
  }

  /// What row 14 is to be asked of, for the next decision alone.
  func capView(_ partition: Int32, _ ask: CapAsk, nowMs: Int64) -> CapView {
    counters(partition).view(ask, nowMs: nowMs)
  }

  /// An approval for a device. Returns whether `writeCapRecord` has something to say.
  func countApproval(_ partition: Int32, _ ask: CapAsk, device: Bytes, nowMs: Int64) -> Bool {
    counters(partition).approve(ask, device: CapDevice.hash(device), nowMs: nowMs)
  }

  /// Writes what is known of a counted notification now, and drafts it as a record of the
  /// state topic.
  func writeCapRecord(
    _ partition: Int32, _ ask: CapAsk, user: Bytes, category: Category, notification: Bytes,
    nowMs: Int64, to out: inout JSONWriter, _ drafts: inout StateDrafts
  ) {
    let counters = counters(partition)
    guard let entry = counters.entry(ask, nowMs: nowMs) else {
      preconditionFailure("wrote of a notification that is not counted")
    }
    out.reserve(CapRecord.keyBytesMax + CapRecord.valueBytesMax)
    let keyStart = out.count
    CapRecord.writeKey(user: user, category: category, notification: notification, to: &out)
    let valueStart = out.count
    CapRecord.writeValue(entry, of: counters, to: &out)
    drafts.add(partition, keyStart: keyStart, valueStart: valueStart, valueEnd: out.count)
  }

  // MARK: The state topic

  /// Takes one record of the partition's state topic.
  func restoreCap(
    _ partition: Int32, _ key: CapRecord.Key, value: Bytes?, nowMs: Int64
  ) -> Restored {
    guard countsCaps, rules.isCapped(key.category) else { return .passedOver }
    let ask = capAsk(key.user, key.category, key.notification)
    guard let value else {
      counters(partition).erase(ask)
      return .taken
    }
    guard let known = CapRecord.value(value, &restoredDevices) else { return .unreadable }
    counters(partition).restore(ask, known, restoredDevices, nowMs: nowMs)
    return .taken
  }

  /// Where the policy does not cap the category (any more) its records stay for their time: it may
  /// again, tomorrow.
  func capStanding(
    _ partition: Int32, _ key: CapRecord.Key, value: Bytes, nowMs: Int64
  ) -> Standing {
    guard let known = CapRecord.value(value, &restoredDevices) else { return .passedOver }
    guard countsCaps, rules.isCapped(key.category) else {
      return known.atMs <= nowMs - capLimits.memoryMs ? .over : .needed
    }
    let ask = capAsk(key.user, key.category, key.notification)
    guard let entry = counters(partition).entry(ask, nowMs: nowMs) else { return .over }
    return entry.atMs == known.atMs ? .needed : .passedOver
  }

  @inline(__always)
  func counters(_ partition: Int32) -> CapCounters {
    guard let counters = capCounters[Int(partition)] else {
      preconditionFailure("counted of partition \(partition), whose state is not restored")
    }
    return counters
  }

  // MARK: Figures

  /// Notifications remembered against the caps in all partitions.
  public var cappedCount: Int { capCounters.reduce(0) { $0 + ($1?.count ?? 0) } }

  /// Bytes of memory that they take.
  public var capMemoryBytes: Int { capCounters.reduce(0) { $0 + ($1?.memoryBytes ?? 0) } }

  /// Approvals that went out without being counted, for want of room: none, unless
  /// `caps_entries_max` is too small.
  public var capsUncounted: UInt64 { capCounters.reduce(0) { $0 + ($1?.uncounted ?? 0) } }
}

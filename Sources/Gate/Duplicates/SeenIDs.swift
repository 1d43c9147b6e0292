/// What was approved or deferred of one partition within the horizon (decision, row 6): queues in the
/// order of first approval, and an index of them. 24 bytes an id, and 11 to 21 for the index.
///
/// What the open transaction adds stands at the queues' ends, so that undoing it is cutting the ends
/// off. Nothing is forgotten before a commit: what an abort brings back must find the table as it was.
///
/// What is remembered is a function of the committed records and the clock alone, not of the way
/// there, so that a restore finds what the last owner had.
final class SeenIDs {
  /// What is remembered, and for how long.
  struct Limits {
    /// Of those that are surely not held any more.
    var entriesMax: Int
    var horizonMs: Int64
    /// So long after its first decision a deferred notification may still be held.
    var heldMaxMs: Int64
  }

  /// The index's places: one bit for the queue, the others for where in it.
  private static let deferredBit: UInt64 = 1 << 30
  private static let placeMask: UInt64 = deferredBit - 1
  /// Steps of forgetting that a commit takes beyond what it added.
  private static let stepsMin: Int64 = 1024

  let limits: Limits
  private var index = SeenIndex()
  private var approved = SeenQueue()
  private var deferred = SeenQueue()
  /// Before this place of `deferred` none is held any more; so many of them are not gone.
  private var heldFrom: Int64 = 0
  private var released = 0
  private var restoredCount: Int64 = 0

  init(_ limits: Limits) { self.limits = limits }

  /// Ids remembered, expired ones not yet forgotten included.
  var count: Int { index.count }

  var memoryBytes: Int { index.memoryBytes + approved.memoryBytes + deferred.memoryBytes }

  // MARK: Looking up

  /// The instant of the first approval, where that is within the horizon.
  func firstSeenMs(_ hash: SeenHash, nowMs: Int64) -> Int64? {
    firstSeen(hash, nowMs: nowMs)?.atMs
  }

  /// The first approval, where that is within the horizon.
  @inline(__always)
  func firstSeen(_ hash: SeenHash, nowMs: Int64) -> SeenQueue.Entry? {
    guard let name = find(hash) else { return nil }
    let entry = entry(name)
    return isExpired(entry.atMs, nowMs) ? nil : entry
  }

  @inline(__always)
  private func isExpired(_ atMs: Int64, _ nowMs: Int64) -> Bool {
    #if PlantedBugs
      if PlantedBug.is(.horizonTooShort) { return atMs <= nowMs - limits.horizonMs / 2 }
    #endif
    return atMs <= nowMs - limits.horizonMs
  }

  @inline(__always)
  private func find(_ hash: SeenHash) -> UInt64? {
    index.find(hash) { entry($0).hash == hash }
  }

  @inline(__always)
  private func entry(_ name: UInt64) -> SeenQueue.Entry {
    name & Self.deferredBit == 0
      ? approved[Self.place(name, approved.head)] : deferred[Self.place(name, deferred.head)]
  }

  /// The place whose low bits these are: a queue is shorter than they reach.
  @inline(__always)
  private static func place(_ name: UInt64, _ head: Int64) -> Int64 {
    head + Int64((name &- UInt64(bitPattern: head)) & placeMask)
  }

  @inline(__always)
  private static func name(_ place: Int64, isDeferred: Bool) -> UInt64 {
    UInt64(place) & placeMask | (isDeferred ? deferredBit : 0)
  }

  /// How far back the memory reaches: the horizon, or less where there was no room for it.
  func horizonInForceMs(nowMs: Int64) -> Int64 {
    guard approved.live + released >= limits.entriesMax else { return limits.horizonMs }
    let oldestMs = min(
      approved.isEmpty ? nowMs : approved.oldest.atMs,
      released == 0 ? nowMs : deferred.oldest.atMs)
    return min(limits.horizonMs, max(0, nowMs - max(0, oldestMs)))
  }

  // MARK: Within a transaction

  /// Remembers an id that is not remembered, or no longer within the horizon.
  func insert(
    _ hash: SeenHash, atMs: Int64, isDeferred: Bool, content: UInt16 = ContentDigest.unknown
  ) {
    let name = Self.name(isDeferred ? deferred.tail : approved.tail, isDeferred: isDeferred)
    if let expired = find(hash) {
      index.move(hash, from: expired, to: name)
      makeGone(expired)
    } else {
      index.insert(hash, place: name)
    }
    let entry = SeenQueue.Entry(hash: hash, atMs: atMs, content: content)
    if isDeferred { deferred.append(entry) } else { approved.append(entry) }
  }

  private func makeGone(_ name: UInt64) {
    if name & Self.deferredBit == 0 {
      approved.makeGone(Self.place(name, approved.head))
    } else {
      let place = Self.place(name, deferred.head)
      deferred.makeGone(place)
      if place < heldFrom { released -= 1 }
    }
  }

  /// The transaction is gone: so is what it added.
  func rollback() {
    while let entry = approved.removeUncommitted() {
      if !entry.isGone {
        index.remove(entry.hash, place: Self.name(approved.tail, isDeferred: false))
      }
    }
    while let entry = deferred.removeUncommitted() {
      if !entry.isGone {
        index.remove(entry.hash, place: Self.name(deferred.tail, isDeferred: true))
      }
    }
  }

  /// The transaction is committed. Forgets what is over, a bounded number at a time: after a quiet
  /// night all of it may be.
  func commit(nowMs: Int64) {
    let added = approved.tail - approved.committed + deferred.tail - deferred.committed
    forgetOld(nowMs: nowMs, stepsMax: 2 * added + Self.stepsMin)
  }

  // MARK: Restoring

  /// What the state topic says of an id; the last word counts. Forgets on the way: the topic may hold
  /// more than there is room for.
  func restore(
    _ hash: SeenHash, atMs: Int64, isDeferred: Bool, content: UInt16 = ContentDigest.unknown,
    nowMs: Int64
  ) {
    insert(hash, atMs: atMs, isDeferred: isDeferred, content: content)
    // At once: other partitions go on meanwhile, and an abort of theirs must not undo this.
    approved.commit()
    deferred.commit()
    restoredCount += 1
    if restoredCount % Self.stepsMin == 0 {
      forgetOld(nowMs: nowMs, stepsMax: 2 * Self.stepsMin)
    }
  }

  /// The state topic says that an id is forgotten.
  func erase(_ hash: SeenHash) {
    guard let name = find(hash) else { return }
    index.remove(hash, place: name)
    makeGone(name)
  }

  func finishRestore(nowMs: Int64) { forgetOld(nowMs: nowMs, stepsMax: .max) }

  // MARK: Forgetting

  private func forgetOld(nowMs: Int64, stepsMax: Int64) {
    approved.commit()
    deferred.commit()
    var steps = stepsMax
    while heldFrom < deferred.tail, steps > 0 {
      let entry = deferred[heldFrom]
      guard entry.isGone || entry.atMs + limits.heldMaxMs <= nowMs else { break }
      heldFrom += 1
      if !entry.isGone { released += 1 }
      steps -= 1
    }
    while steps > 0, forgetOne(nowMs: nowMs) { steps -= 1 }
  }

  /// The older of the two that may go, if one has to.
  private func forgetOne(nowMs: Int64) -> Bool {
    #if PlantedBugs
      if PlantedBug.is(.nothingForgotten) { return false }
    #endif
    let isFull = approved.live + released > limits.entriesMax
    let approvedMs = approved.isEmpty ? Int64.max : approved.oldest.atMs
    let deferredMs = deferred.head == heldFrom ? Int64.max : deferred.oldest.atMs
    let oldestMs = min(approvedMs, deferredMs)
    guard oldestMs != .max, isFull || isExpired(oldestMs, nowMs) else {
      return false
    }
    if approvedMs <= deferredMs {
      let oldest = approved.oldest
      if !oldest.isGone {
        index.remove(oldest.hash, place: Self.name(approved.head, isDeferred: false))
      }
      approved.removeOldest()
    } else {
      let oldest = deferred.oldest
      if !oldest.isGone {
        index.remove(oldest.hash, place: Self.name(deferred.head, isDeferred: true))
        released -= 1
      }
      deferred.removeOldest()
    }
    return true
  }
}

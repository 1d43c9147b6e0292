/// A user in a category, and a notification of theirs, as the counters know them.
struct CapAsk {
  /// Keyed hash of the user, with the category.
  var counter: SeenHash
  /// Keyed hash of the notification's id.
  var id: UInt64
}

/// What was approved of one partition in the capped categories: for each user and category the
/// notifications in the order of their instants. A counter takes 24 bytes and 11 to 21 for the index,
/// a notification 24 to 48, a device whose answer is awaited 16.
///
/// What is remembered is a function of the committed records and the clock alone (as long as there is
/// room), so that a restore finds what the last owner had. Whether something still counts is asked of
/// the clock; that it is forgotten then is a matter of memory only, and happens at commits.
final class CapCounters {
  struct Limits {
    /// Notifications.
    var entriesMax: Int
    /// For so long a notification's id stands for the same notification: at least as long as a
    /// window, and as another device may follow the first.
    var memoryMs: Int64
    /// The longest window: what is older counts nowhere.
    var windowMs: Int64
  }

  private struct Counter {
    var hash: SeenHash
    var block: UInt32
    var length: UInt16
    var sizeClass: UInt8

    static let unused = UInt8.max
  }

  /// The entry's notification before the transaction changed it.
  private struct Undo {
    var ask: CapAsk
    var old: CapEntry?
  }

  /// Counters that a commit looks at beyond those it changed.
  private static let stepsMin = 256

  let limits: Limits
  private var index = SeenIndex()
  private let counters = Runs<Counter>(widthShift: 0)
  /// Runs of 1, 2, 4 … entries.
  private var blocks: [Runs<CapEntry>] = []
  private var devices = CapDevices()
  private var undo: [Undo] = []
  private var hand: UInt32 = 0
  private(set) var count = 0
  /// Approvals that found no room.
  private(set) var uncounted: UInt64 = 0

  init(_ limits: Limits) { self.limits = limits }

  var counterCount: Int { index.count }

  var memoryBytes: Int {
    index.memoryBytes + counters.memoryBytes + devices.memoryBytes
      + blocks.reduce(0) { $0 + $1.memoryBytes }
  }

  // MARK: Looking up

  /// What a decision needs to know; lives until the next change.
  func view(_ ask: CapAsk, nowMs: Int64) -> CapView {
    guard let counter = counter(ask.counter) else {
      return CapView(entries: UnsafeBufferPointer(start: nil, count: 0), isCounted: false)
    }
    let entry = find(counter, ask.id)
    return CapView(
      entries: UnsafeBufferPointer(entries(counter)),
      isCounted: entry.map { $0.pointee.isCounted && !isOver($0.pointee, nowMs) } ?? false)
  }

  /// The notification's entry, and the devices whose answers are awaited; nil where it is not, or no
  /// longer, known.
  func entry(_ ask: CapAsk, nowMs: Int64) -> CapEntry? {
    guard let counter = counter(ask.counter), let entry = find(counter, ask.id)?.pointee,
      !isOver(entry, nowMs)
    else { return nil }
    return entry
  }

  /// One of the list that begins with `entry.devices`.
  func device(_ name: UInt32) -> CapDevice { devices[name] }

  private func isOver(_ entry: CapEntry, _ nowMs: Int64) -> Bool {
    entry.atMs <= nowMs - limits.memoryMs
  }

  private func counter(_ hash: SeenHash) -> UnsafeMutablePointer<Counter>? {
    index.find(hash) { counters[UInt32($0)].pointee.hash == hash }.map { counters[UInt32($0)] }
  }

  @inline(__always)
  private func entries(
    _ counter: UnsafeMutablePointer<Counter>
  ) -> UnsafeMutableBufferPointer<CapEntry> {
    UnsafeMutableBufferPointer(
      start: blocks[Int(counter.pointee.sizeClass)][counter.pointee.block],
      count: Int(counter.pointee.length))
  }

  private func find(
    _ counter: UnsafeMutablePointer<Counter>, _ id: UInt64
  ) -> UnsafeMutablePointer<CapEntry>? {
    let entries = entries(counter)
    // From the newest back.
    var i = entries.count
    while i > 0 {
      i -= 1
      if entries[i].id == id { return entries.baseAddress! + i }
    }
    return nil
  }

  // MARK: Within a transaction

  /// A notification is approved for a device. Counts it where it is not counted yet. Returns whether
  /// there is something new to remember.
  func approve(_ ask: CapAsk, device: UInt64, nowMs: Int64) -> Bool {
    let old = counter(ask.counter).flatMap { find($0, ask.id)?.pointee }
    var new = CapEntry(id: ask.id, atMs: nowMs, devices: 0, state: .open)
    if let old, !isOver(old, nowMs) {
      switch old.state {
      case .accepted, .recounted: return false
      case .refunded: new.state = .recounted
      case .open:
        guard !devices.contains(old.devices, device) else { return false }
        new = old
        if devices.count(old.devices) == CapDevices.max {
          new.state = .accepted
          new.devices = 0
        } else {
          new.devices = devices.copy(old.devices, adding: CapDevice(hash: device))
        }
      }
    } else {
      guard old != nil || hasRoom(ask.counter) else {
        uncounted += 1
        return false
      }
      new.devices = devices.copy(0, adding: CapDevice(hash: device))
    }
    undo.append(Undo(ask: ask, old: old))
    set(ask, new)
    return true
  }

  /// What came of a provider's answer.
  enum Answered {
    /// Not counted, or not approved for that device as far as is known.
    case unknown
    /// Known already, or of no account any more.
    case settled
    /// One to remember.
    case noted
    /// It was the last of the devices: not counted any more.
    case refunded
  }

  /// A provider took or rejected a notification for a device.
  func answer(_ ask: CapAsk, device: UInt64, isAccepted: Bool, nowMs: Int64) -> Answered {
    guard let old = entry(ask, nowMs: nowMs) else { return .unknown }
    guard old.state == .open else { return .settled }
    guard let known = devices.find(old.devices, device) else { return .unknown }
    var new = old
    new.devices = 0
    if isAccepted {
      new.state = .accepted
    } else if known.isRejected {
      return .settled
    } else if devices.isLastWaiting(old.devices) {
      new.state = .refunded
    } else {
      new.devices = devices.copy(old.devices, rejecting: device)
    }
    undo.append(Undo(ask: ask, old: old))
    set(ask, new)
    return new.state == .refunded ? .refunded : .noted
  }

  /// The transaction is gone: so is what it changed.
  func rollback() {
    while let last = undo.popLast() {
      if let counter = counter(last.ask.counter), let now = find(counter, last.ask.id) {
        devices.free(now.pointee.devices)
      }
      if let old = last.old { set(last.ask, old) } else { remove(last.ask) }
    }
  }

  /// The transaction is committed. Forgets what is over, some counters at a time.
  func commit(nowMs: Int64) {
    let steps = Self.stepsMin + 2 * undo.count
    for one in undo {
      // Every change gave the entry a list of its own.
      if let old = one.old { devices.free(old.devices) }
    }
    undo.removeAll(keepingCapacity: true)
    forgetOld(nowMs: nowMs, steps: min(steps, Int(counters.made)))
  }

  // MARK: Restoring

  /// What the state topic says of a notification; the last word counts.
  func restore(_ ask: CapAsk, _ value: CapRecord.Value, _ known: [CapDevice], nowMs: Int64) {
    erase(ask)
    let entry = CapEntry(id: ask.id, atMs: value.atMs, devices: 0, state: value.state)
    guard !isOver(entry, nowMs) else { return }
    guard hasRoom(ask.counter) else {
      uncounted += 1
      return
    }
    var owned = entry
    for device in known.reversed() { owned.devices = devices.add(owned.devices, device) }
    set(ask, owned)
  }

  /// The state topic says that a notification is forgotten.
  func erase(_ ask: CapAsk) {
    guard let counter = counter(ask.counter), let old = find(counter, ask.id) else { return }
    devices.free(old.pointee.devices)
    remove(ask)
  }

  // MARK: The counters' own memory

  private func hasRoom(_ hash: SeenHash) -> Bool {
    count < limits.entriesMax
      && (counter(hash)?.pointee.length ?? 0) < UInt16.max
  }

  /// Puts an entry where its instant belongs, in place of the one of its notification.
  private func set(_ ask: CapAsk, _ entry: CapEntry) {
    guard let counter = counter(ask.counter) else {
      let name = counters.take()
      counters[name].initialize(
        to: Counter(hash: ask.counter, block: block(0).take(), length: 0, sizeClass: 0))
      index.insert(ask.counter, place: UInt64(name))
      insert(counters[name], entry)
      return
    }
    if let old = find(counter, ask.id) {
      if old.pointee.atMs == entry.atMs {
        old.pointee = entry
        return
      }
      remove(counter, at: old)
    }
    insert(counter, entry)
  }

  private func remove(_ ask: CapAsk) {
    guard let counter = counter(ask.counter), let old = find(counter, ask.id) else { return }
    remove(counter, at: old)
    if counter.pointee.length == 0 { drop(counter) }
  }

  private func insert(_ counter: UnsafeMutablePointer<Counter>, _ entry: CapEntry) {
    let length = Int(counter.pointee.length)
    if length == 1 << Int(counter.pointee.sizeClass) {
      resize(counter, to: counter.pointee.sizeClass + 1)
    }
    counter.pointee.length += 1
    let entries = entries(counter)
    var at = length
    while at > 0, entries[at - 1].atMs > entry.atMs {
      entries[at] = entries[at - 1]
      at -= 1
    }
    entries[at] = entry
    count += 1
  }

  private func remove(
    _ counter: UnsafeMutablePointer<Counter>, at old: UnsafeMutablePointer<CapEntry>
  ) {
    let entries = entries(counter)
    let behind = entries.baseAddress! + entries.count - (old + 1)
    old.update(from: old + 1, count: behind)
    counter.pointee.length -= 1
    count -= 1
  }

  private func drop(_ counter: UnsafeMutablePointer<Counter>) {
    let hash = counter.pointee.hash
    guard let name = index.find(hash, { counters[UInt32($0)] == counter }) else {
      preconditionFailure("dropped a counter that is not there")
    }
    index.remove(hash, place: name)
    blocks[Int(counter.pointee.sizeClass)].give(counter.pointee.block)
    counter.pointee.sizeClass = Counter.unused
    counters.give(UInt32(name))
  }

  private func resize(_ counter: UnsafeMutablePointer<Counter>, to sizeClass: UInt8) {
    let from = entries(counter)
    let block = block(Int(sizeClass)).take()
    blocks[Int(sizeClass)][block].initialize(from: from.baseAddress!, count: from.count)
    blocks[Int(counter.pointee.sizeClass)].give(counter.pointee.block)
    counter.pointee.block = block
    counter.pointee.sizeClass = sizeClass
  }

  private func block(_ sizeClass: Int) -> Runs<CapEntry> {
    while blocks.count <= sizeClass { blocks.append(Runs(widthShift: blocks.count)) }
    return blocks[sizeClass]
  }

  // MARK: Forgetting

  /// Goes round: each counter is looked at once in a while.
  private func forgetOld(nowMs: Int64, steps: Int) {
    for _ in 0..<steps {
      hand = hand >= counters.made ? 1 : hand + 1
      let counter = counters[hand]
      guard counter.pointee.sizeClass != Counter.unused else { continue }
      forgetOld(counter, nowMs: nowMs)
    }
  }

  private func forgetOld(_ counter: UnsafeMutablePointer<Counter>, nowMs: Int64) {
    // Where room is short, what counts nowhere goes first.
    let keptMs = count >= limits.entriesMax ? limits.windowMs : limits.memoryMs
    let entries = entries(counter)
    var over = 0
    while over < entries.count, entries[over].atMs <= nowMs - keptMs {
      devices.free(entries[over].devices)
      over += 1
    }
    guard over > 0 else { return }
    let left = entries.count - over
    entries.baseAddress!.update(from: entries.baseAddress! + over, count: left)
    counter.pointee.length = UInt16(left)
    count -= over
    if left == 0 { return drop(counter) }
    var sizeClass = counter.pointee.sizeClass
    while sizeClass > 0, left * 4 <= 1 << Int(sizeClass) { sizeClass -= 1 }
    if sizeClass != counter.pointee.sizeClass { resize(counter, to: sizeClass) }
  }
}

/// What row 14 is asked of.
struct CapView {
  /// In the order of their instants.
  var entries: UnsafeBufferPointer<CapEntry>
  /// The notification is counted already, and does not stand in its own way.
  var isCounted: Bool
}

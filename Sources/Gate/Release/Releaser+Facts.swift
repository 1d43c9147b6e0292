/// What a holder of holds knows them by, and when each may leave: from the record, or from the decision
/// that has just made one.
extension Releaser {
  /// What a holder keeps of a hold, as the preferences stand at `nowMs`. Nil where it is none, or
  /// where `key` is another's.
  public func facts(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, nowMs: Int64
  ) -> HoldFacts? {
    decoder.startBatch()
    guard let held = decoder.decode(value) else { return nil }
    out.removeAll()
    writeKey(held)
    let own = Bytes(start: out.base, count: out.count)
    if let key, !key.equals(own) { return nil }
    let user = preferences.hash(held.candidate.userID!)
    var facts = HoldFacts(
      identity: HoldIdentity(user: user.first, hold: preferences.hash(own).first),
      collapse: nil, spread: Self.spread(of: held.candidate.userID!), provider: .apns,
      deliverAfterMs: held.deliverAfterMs,
      expiresAtMs: held.candidate.expiresAtMs, heldUntilMs: nil)
    if let collapseKey = held.candidate.collapseKey {
      facts.collapse = collapse(
        user: held.candidate.userID!, device: held.deviceID, collapseKey: collapseKey)
    }
    guard let block = preferences.find(user), preferences.confirm(block, user),
      !block.isErased(since: held.preferenceOffset)
    else {
      facts.isUserGone = true
      return facts
    }
    guard !block.isUnreadable, let device = block.find(held.deviceID) else {
      if held.deliverAfterMs > nowMs { facts.heldUntilMs = held.deliverAfterMs }
      return facts
    }
    facts.provider = Provider(block.device(device).platform)
    facts.heldUntilMs = decider.heldUntilMs(
      held.candidate, held.candidate.category!, block: block, deviceIndex: device,
      zones: zones.current, nowMs: nowMs, heldSinceMs: held.firstDecidedAtMs)
    return facts
  }

  /// The same of a deferral that has just been made, which need not be read for it. Nil of any other.
  public func facts(of deferral: OutputRecord) -> HoldFacts? {
    guard let hold = deferral.hold, let key = deferral.key else { return nil }
    let id = Self.userID(inKey: key)
    let collapse = collapse(of: deferral)
    return HoldFacts(
      identity: HoldIdentity(
        user: collapse?.user ?? user(id), hold: preferences.hash(key).first),
      collapse: collapse?.collapse, spread: Self.spread(of: id), provider: hold.provider,
      deliverAfterMs: hold.deliverAfterMs, expiresAtMs: hold.expiresAtMs,
      heldUntilMs: hold.deliverAfterMs)
  }

  /// A hold's key begins with the user and a NUL, which no id contains.
  private static func userID(inKey key: Bytes) -> Bytes {
    Bytes(rebasing: key[..<(key.firstIndex(of: 0) ?? key.endIndex)])
  }

  /// Not keyed: the same on every instance. What somebody gains who chooses an id by it is a place
  /// in the spread.
  private static func spread(of user: Bytes) -> UInt32 {
    UInt32(truncatingIfNeeded: SipHash(key: (0, 0)).hash(user).first)
  }

  /// The identity of the hold with that key: what a null value releases. Nil where it is no key.
  public func identity(ofKey key: UnsafeRawBufferPointer) -> HoldIdentity? {
    guard let end = key.firstIndex(of: 0), 1...CandidateDecoder.idBytesMax ~= end else {
      return nil
    }
    return HoldIdentity(
      user: user(Bytes(rebasing: key[..<end])), hold: preferences.hash(key).first)
  }

  /// The first half of the identity of a user's holds.
  public func user(_ id: UnsafeRawBufferPointer) -> UInt64 { preferences.hash(id).first }

  /// What `HoldFacts.collapse` is for these.
  public func collapse(
    user: UnsafeRawBufferPointer, device: UnsafeRawBufferPointer,
    collapseKey: UnsafeRawBufferPointer
  ) -> UInt32 {
    out.removeAll()
    out.reserve(user.count + device.count + collapseKey.count + 2)
    out.raw(user)
    out.byte(0)
    out.raw(device)
    out.byte(0)
    // Last, since it alone may contain a NUL.
    out.raw(collapseKey)
    let hash = preferences.hash(Bytes(start: out.base, count: out.count))
    return UInt32(truncatingIfNeeded: hash.first)
  }

  /// Which holds an approval or deferral takes the place of: the user's, and of them those with this
  /// `HoldFacts.collapse`. Nil where it collapses with none.
  public func collapse(of newer: OutputRecord) -> (user: UInt64, collapse: UInt32)? {
    guard let collapseKey = newer.collapseKey, let device = newer.deviceID, let key = newer.key
    else { return nil }
    let id = Self.userID(inKey: key)
    return (user(id), collapse(user: id, device: device, collapseKey: collapseKey))
  }
}

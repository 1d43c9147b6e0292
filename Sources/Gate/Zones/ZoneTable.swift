/// Every zone of one load of the tz database, in one block of memory that never changes. The struct
/// is one pointer; the block belongs to the `ZonePublisher` it came from, and a reader may use it
/// until it next passes a batch boundary (see `Epochs`).
public struct ZoneTable {
  /// Zones are numbered below this, so that a preference block can keep 12 bits.
  public static let zonesMax = 4096

  /// A cache line a zone: nearly every look-up reads nothing else.
  struct Entry {
    /// The interval that held when the table was made, and its offset.
    var cachedFrom: Int64
    var cachedUntil: Int64
    var cachedOffset: Int32
    var isKnown: Bool
    /// Into the table's transitions; the offsets start at `offsetsStart` and are one more.
    var transitionsStart: UInt32
    var transitionsCount: UInt32
    var offsetsStart: UInt32
    /// `noRule`, or into the table's rules.
    var rule: UInt32
    var ruleFrom: Int64
    var nameStart: UInt32
    var nameCount: UInt32
    /// Fills the line.
    var unused: UInt64 = 0

    static let noRule = UInt32.max
  }

  struct Header {
    var counts: Counts
    var versionStart: UInt32
    var versionCount: UInt32
    let entries: UnsafeMutablePointer<Entry>
    let rules: UnsafeMutablePointer<FooterRule>
    let transitions: UnsafeMutablePointer<Int64>
    let offsets: UnsafeMutablePointer<Int32>
    let bytes: UnsafeMutablePointer<UInt8>
  }

  /// What the block holds of each kind.
  struct Counts {
    var zones = 0
    var rules = 0
    var transitions = 0
    var offsets = 0
    var bytes = 0
  }

  let header: UnsafePointer<Header>

  /// The tz database's version, such as `2026f`; `unknown` where it does not say.
  public var version: UnsafeRawBufferPointer {
    text(header.pointee.versionStart, header.pointee.versionCount)
  }

  /// Whether this database has the zone. False for 0, "no zone", and for names that were interned
  /// from documents without being in the database.
  @inline(__always)
  public func isKnown(_ zone: UInt16) -> Bool {
    Int(zone) < header.pointee.counts.zones && header.pointee.entries[Int(zone)].isKnown
  }

  /// Empty for 0 and for a zone that this table has not.
  public func name(_ zone: UInt16) -> UnsafeRawBufferPointer {
    guard Int(zone) < header.pointee.counts.zones else { return text(0, 0) }
    let entry = header.pointee.entries[Int(zone)]
    return text(entry.nameStart, entry.nameCount)
  }

  /// Seconds east of UTC at an instant, and the instant of the next change (`Int64.max`: none).
  /// UTC for a zone that is not known.
  @inline(__always)
  public func offsetInterval(
    _ zone: UInt16, atSeconds seconds: Int64
  ) -> (offsetSeconds: Int32, untilSeconds: Int64) {
    guard Int(zone) < header.pointee.counts.zones else { return (0, .max) }
    let entry = header.pointee.entries + Int(zone)
    if seconds >= entry.pointee.cachedFrom && seconds < entry.pointee.cachedUntil {
      return (entry.pointee.cachedOffset, entry.pointee.cachedUntil)
    }
    let found = interval(entry.pointee, at: seconds)
    return (found.offset, found.until)
  }

  /// The zones that the database has.
  public var knownCount: Int {
    var count = 0
    for zone in 0..<header.pointee.counts.zones where header.pointee.entries[zone].isKnown {
      count += 1
    }
    return count
  }

  /// Past this the calendar's arithmetic could overflow: 285 million years.
  private static let instantMax: Int64 = 1 << 53

  /// Without the cache.
  @inline(never)
  func interval(_ entry: Entry, at seconds: Int64) -> (offset: Int32, from: Int64, until: Int64) {
    if entry.rule != Entry.noRule, seconds >= entry.ruleFrom {
      let rule = header.pointee.rules + Int(entry.rule)
      let inside = max(-Self.instantMax, min(seconds, Self.instantMax))
      let found = rule.pointee.interval(at: inside)
      let until = found.until <= seconds ? Int64.max : found.until
      return (found.offset, max(found.from, entry.ruleFrom), until)
    }

    let transitions = header.pointee.transitions + Int(entry.transitionsStart)
    let offsets = header.pointee.offsets + Int(entry.offsetsStart)
    let count = Int(entry.transitionsCount)
    // How many transitions are not after the instant.
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      if transitions[middle] <= seconds { low = middle + 1 } else { high = middle }
    }
    let from = low == 0 ? Int64.min : transitions[low - 1]
    if low < count { return (offsets[low], from, transitions[low]) }
    guard entry.rule != Entry.noRule else { return (offsets[low], from, .max) }
    // Between the last change of the table and the rule: the change is where the rule begins, or
    // where it first differs.
    let next = header.pointee.rules[Int(entry.rule)].interval(at: entry.ruleFrom)
    return (offsets[low], from, next.offset == offsets[low] ? next.until : entry.ruleFrom)
  }

  private func text(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: header.pointee.bytes + Int(start), count: Int(count))
  }
}

/// The one block of memory behind a `ZoneTable`: making it, and freeing it.
struct ZoneTableBlock {
  let table: ZoneTable
  private let memory: UnsafeMutableRawPointer

  /// - Parameter names: of every zone number, in order; number 0 has the empty name.
  init(_ database: ZoneDatabase, names: borrowing ZoneNameRegistry, nowSeconds: Int64) {
    var counts = ZoneTable.Counts()
    counts.zones = names.count
    // Offset 0 is there for zones that are not known: UTC.
    counts.offsets = 1
    for history in database.histories {
      counts.rules += history.rule == nil ? 0 : 1
      counts.transitions += history.transitions.count
      counts.offsets += history.offsets.count
    }
    for zone in 1..<max(names.count, 1) { counts.bytes += names[UInt16(zone)].count }
    let version = Array(database.version.utf8)
    counts.bytes += version.count

    self.init(counts: counts)
    let header = header
    header.pointee.versionCount = UInt32(version.count)
    (header.pointee.bytes).initialize(from: version, count: version.count)
    var nameStart = version.count
    for zone in 0..<names.count {
      let name = names[UInt16(zone)]
      var entry = Self.unknown
      entry.nameStart = UInt32(nameStart)
      entry.nameCount = UInt32(name.count)
      header.pointee.entries[zone] = entry
      for byte in name {
        header.pointee.bytes[nameStart] = byte
        nameStart += 1
      }
    }
    fill(from: database, names: names)
    renewCaches(nowSeconds: nowSeconds)
  }

  /// A copy whose caches hold the intervals of another instant.
  init(copying other: ZoneTableBlock, nowSeconds: Int64) {
    let source = other.header
    self.init(counts: source.pointee.counts)
    let counts = source.pointee.counts
    header.pointee.versionStart = source.pointee.versionStart
    header.pointee.versionCount = source.pointee.versionCount
    header.pointee.entries.update(from: source.pointee.entries, count: counts.zones)
    header.pointee.rules.update(from: source.pointee.rules, count: counts.rules)
    header.pointee.transitions.update(
      from: source.pointee.transitions, count: counts.transitions)
    header.pointee.offsets.update(from: source.pointee.offsets, count: counts.offsets)
    header.pointee.bytes.update(from: source.pointee.bytes, count: counts.bytes)
    renewCaches(nowSeconds: nowSeconds)
  }

  /// The table must not be read from now on.
  func free() { memory.deallocate() }

  private var header: UnsafeMutablePointer<ZoneTable.Header> {
    UnsafeMutablePointer(mutating: table.header)
  }

  /// Room for all of it, zeroed, the parts in the order of their alignment.
  private init(counts: ZoneTable.Counts) {
    typealias Entry = ZoneTable.Entry
    let line = 64
    let entriesAt = (MemoryLayout<ZoneTable.Header>.size + line - 1) & ~(line - 1)
    let transitionsAt = entriesAt + counts.zones * MemoryLayout<Entry>.stride
    let rulesAt = transitionsAt + counts.transitions * MemoryLayout<Int64>.stride
    let offsetsAt = rulesAt + counts.rules * MemoryLayout<FooterRule>.stride
    let bytesAt = offsetsAt + counts.offsets * MemoryLayout<Int32>.stride
    let size = bytesAt + counts.bytes
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: line)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)

    let made = (memory).bindMemory(to: ZoneTable.Header.self, capacity: 1)
    made.initialize(
      to: ZoneTable.Header(
        counts: counts, versionStart: 0, versionCount: 0,
        entries: (memory + entriesAt).bindMemory(to: Entry.self, capacity: counts.zones),
        rules: (memory + rulesAt).bindMemory(to: FooterRule.self, capacity: counts.rules),
        transitions: (memory + transitionsAt)
          .bindMemory(to: Int64.self, capacity: counts.transitions),
        offsets: (memory + offsetsAt).bindMemory(to: Int32.self, capacity: counts.offsets),
        bytes: (memory + bytesAt).bindMemory(to: UInt8.self, capacity: counts.bytes)))
    self.memory = memory
    table = ZoneTable(header: UnsafePointer(made))
  }

  private static let unknown = ZoneTable.Entry(
    cachedFrom: .min, cachedUntil: .max, cachedOffset: 0, isKnown: false, transitionsStart: 0,
    transitionsCount: 0, offsetsStart: 0, rule: ZoneTable.Entry.noRule, ruleFrom: .max,
    nameStart: 0, nameCount: 0)

  /// Lays every history out once and points the entries of all its names at it.
  private func fill(from database: ZoneDatabase, names: borrowing ZoneNameRegistry) {
    let to = header.pointee
    var laidOut: [ZoneTable.Entry] = []
    laidOut.reserveCapacity(database.histories.count)
    var transitions = 0
    var offsets = 1
    var rules = 0
    for history in database.histories {
      var entry = Self.unknown
      entry.isKnown = true
      entry.transitionsStart = UInt32(transitions)
      entry.transitionsCount = UInt32(history.transitions.count)
      entry.offsetsStart = UInt32(offsets)
      entry.ruleFrom = history.ruleFrom
      for instant in history.transitions {
        to.transitions[transitions] = instant
        transitions += 1
      }
      for offset in history.offsets {
        to.offsets[offsets] = offset
        offsets += 1
      }
      if let rule = history.rule {
        entry.rule = UInt32(rules)
        to.rules[rules] = rule
        rules += 1
      }
      laidOut.append(entry)
    }

    for (name, history) in database.names {
      let zone = Int(name.withUnsafeBytes { names.find($0) })
      // Only a database of more than 4,095 zones leaves one without a number.
      if zone == 0 { continue }
      var entry = laidOut[history]
      entry.nameStart = to.entries[zone].nameStart
      entry.nameCount = to.entries[zone].nameCount
      to.entries[zone] = entry
    }
  }

  private func renewCaches(nowSeconds: Int64) {
    let entries = header.pointee.entries
    for zone in 0..<header.pointee.counts.zones where entries[zone].isKnown {
      let found = table.interval(entries[zone], at: nowSeconds)
      entries[zone].cachedFrom = found.from
      entries[zone].cachedUntil = found.until
      entries[zone].cachedOffset = found.offset
    }
  }
}

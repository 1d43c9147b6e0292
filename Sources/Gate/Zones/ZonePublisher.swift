import Synchronization

/// Where the current zone table is published: one atomic pointer for readers, and behind a lock
/// what the writers need to make the next one.
public final class ZonePublisher: Sendable {
  /// A pointer as its bits: atomics take pointers, but those are not `Sendable`.
  private let published: Atomic<UInt>
  private let epochs: Epochs
  private let writer: Mutex<Writer>

  private struct Writer: ~Copyable, @unchecked Sendable {
    // Unchecked: reached under the lock only, but for the current table, which nobody writes.
    var names = ZoneNameRegistry()
    var current: ZoneTableBlock
    var retired: [(epoch: UInt64, block: ZoneTableBlock)] = []

    deinit {
      current.free()
      for old in retired { old.block.free() }
    }
  }

  /// Starts with a database without zones: every name is unknown until the first `publish`.
  /// - Parameter epochs: of the readers that will use `current`.
  public init(epochs: Epochs) {
    let names = ZoneNameRegistry()
    let empty = ZoneTableBlock(ZoneDatabase(version: "unknown"), names: names, nowSeconds: 0)
    self.epochs = epochs
    published = Atomic(UInt(bitPattern: empty.table.header))
    writer = Mutex(Writer(names: names, current: empty))
  }

  /// The table to use up to the reader's next batch boundary.
  @inline(__always)
  public var current: ZoneTable {
    // Pairs with the exchange in `replace`: what the pointer leads to was written before it.
    let bits = published.load(ordering: .acquiring)
    return ZoneTable(header: UnsafePointer(bitPattern: bits)!)
  }

  /// The zones that the current table knows and this database has not, in no order. Publishing it
  /// would judge their users in another zone.
  public func missing(from database: ZoneDatabase) -> [String] {
    let names = Set(database.names.map(\.name))
    return knownNames().filter { !names.contains(Array($0.utf8)) }
  }

  /// Makes a database the current one, whatever it lacks: see `missing(from:)`. Numbers of names
  /// stay as they are; names that are new to it get numbers; names that it no longer has are not
  /// known until a later one has them again.
  /// - Parameter nowSeconds: the instant around which look-ups will be fastest.
  public func publish(_ database: ZoneDatabase, nowSeconds: Int64) {
    writer.withLock { writer in
      for entry in database.names {
        _ = entry.name.withUnsafeBytes { writer.names.intern($0, fromDatabase: true) }
      }
      replace(
        &writer, with: ZoneTableBlock(database, names: writer.names, nowSeconds: nowSeconds))
    }
  }

  /// Answers stay the same; look-ups around this instant become fast again. Worth calling every
  /// hour or so: a zone whose offset has changed since is looked up by search.
  public func renewCaches(nowSeconds: Int64) {
    writer.withLock { writer in
      replace(&writer, with: ZoneTableBlock(copying: writer.current, nowSeconds: nowSeconds))
    }
  }

  /// The number that a preference block keeps for a zone's name, matched byte for byte. A name that
  /// is well formed but not in the database gets one too, so that a later database that has it
  /// needs no document read again. 0, "no zone", for anything else.
  public func intern(_ name: UnsafeRawBufferPointer) -> UInt16 {
    writer.withLock { $0.names.intern(name, fromDatabase: false) }
  }

  /// The name of a number that `intern` gave; nil for 0.
  public func name(of zone: UInt16) -> String? {
    guard zone != 0 else { return nil }
    return writer.withLock { String(decoding: $0.current.table.name(zone), as: UTF8.self) }
  }

  /// Whether the current database has a zone of that name, matched byte for byte.
  public func isKnown(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { name in
      writer.withLock { writer in
        let zone = writer.names.find(UnsafeRawBufferPointer(name))
        return zone != 0 && writer.current.table.isKnown(zone)
      }
    }
  }

  /// At most three zones of the current database that the writer of an unknown name may have meant.
  public func suggestions(for name: String) -> [String] {
    ZoneSuggestions.closest(to: name, among: knownNames())
  }

  private func knownNames() -> [String] {
    writer.withLock { writer in
      let table = writer.current.table
      return (0..<writer.names.count).compactMap { zone in
        table.isKnown(UInt16(zone))
          ? String(decoding: table.name(UInt16(zone)), as: UTF8.self) : nil
      }
    }
  }

  /// Retired tables whose memory is not free yet.
  var retiredCount: Int { writer.withLock { $0.retired.count } }

  private func replace(_ writer: inout Writer, with block: ZoneTableBlock) {
    let old = writer.current
    writer.current = block
    published.store(UInt(bitPattern: block.table.header), ordering: .sequentiallyConsistent)
    // Only now: a reader that passes a boundary after this epoch loads the new pointer.
    writer.retired.append((epochs.advance(), old))
    writer.retired.removeAll { epoch, block in
      guard epochs.haveAllPassed(epoch) else { return false }
      block.free()
      return true
    }
  }
}

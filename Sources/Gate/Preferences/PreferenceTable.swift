import CShims
import Synchronization

/// The preferences of every user, and the defaults: written by one thread, read by the lanes, which
/// never wait, never retry, and never see half of a document.
///
/// A document becomes one immutable block; one atomic store swaps a user's entry to the new block.
/// What the store unlinked is freed once every reader has passed a batch boundary (`Epochs`).
///
/// `@unchecked`: the writer's members are the writer thread's alone; what readers touch is published
/// by releasing stores.
public final class PreferenceTable: @unchecked Sendable {
  public enum Applied: Sendable, Equatable {
    case stored(DocumentNotes)
    /// Stored, and its `version` is below the one it replaced: an alarm.
    case storedOlderVersion(DocumentNotes)
    case erased
    /// Not readable: the user is `preferences_unreadable` until a readable document comes; an alarm.
    case unreadable(DocumentFault)
    /// No user to apply it to (null or empty key, or over 128 bytes): counted, otherwise ignored.
    case ignored
  }

  /// The most devices a user has: a document with more cannot be read.
  public static let devicesMax = PackedBlock.devicesMax

  static let shardBits: UInt64 = 6
  static let shardCount = 1 << shardBits
  private static let initialCapacity = 16
  /// Retired blocks are looked at in runs, to spare the writer an atomic for each.
  private static let retiredRun = 256

  // What readers follow.
  private let indexes: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer>>
  private let directories: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt64>>>
  private let packedDefaults = Atomic<UInt32>(0)
  private let userCount = Atomic<Int>(0)
  private let memory = Atomic<Int>(0)
  private let sip: SipHash

  // The writer's alone.
  private let epochs: Epochs
  private var arenas: [BlockArena] = []
  private var decoder: DocumentDecoder
  private var erasures = Erasures()
  /// What the newest record switched off for the account that was not off in the document before: by a
  /// choice, or all of it by an erasure. Nothing where there was no document before.
  public private(set) var optOuts = CategorySet()
  private struct Retired {
    var shard: Int
    var block: UInt32
    var sizeClass: Int
  }
  private var retired: [Retired] = []
  private var waiting: [(epoch: UInt64, blocks: [Retired])] = []
  private var waitingIndexes: [(epoch: UInt64, index: ShardIndex)] = []

  /// - Parameter hashKey: 128 bits, random per process, or kept beside a snapshot.
  public init(hashKey: (UInt64, UInt64), zones: ZonePublisher, epochs: Epochs) {
    sip = SipHash(key: hashKey)
    self.epochs = epochs
    decoder = DocumentDecoder(zones: zones, seed: hashKey.0 ^ hashKey.1)
    indexes = .allocate(capacity: Self.shardCount)
    directories = .allocate(capacity: Self.shardCount)
    for shard in 0..<Self.shardCount {
      let arena = BlockArena()
      arenas.append(arena)
      directories[shard] = arena.directory
      let index = ShardIndex(capacity: Self.initialCapacity)
      (indexes + shard).initialize(to: Atomic(UnsafeMutableRawPointer(index.base)))
    }
    addMemory((0..<Self.shardCount).reduce(0) { $0 + index($1).memoryBytes })
  }

  deinit {
    for shard in 0..<Self.shardCount { index(shard).deallocate() }
    for entry in waitingIndexes { entry.index.deallocate() }
    indexes.deallocate()
    directories.deallocate()
  }

  /// Users held, unreadable ones included.
  public var users: Int { userCount.load(ordering: .relaxed) }
  /// Bytes of index and blocks, those included that wait for their last reader.
  public var memoryBytes: Int { memory.load(ordering: .relaxed) }

  @inline(__always)
  private func shard(_ hash: UserHash) -> Int { Int(hash.first >> (64 - Self.shardBits)) }

  @inline(__always)
  private func index(_ shard: Int) -> ShardIndex {
    // Pairs with the releasing store in `grow`.
    ShardIndex(
      base: indexes[shard].load(ordering: .acquiring).assumingMemoryBound(to: UInt64.self))
  }

  // MARK: Reading, from any lane between two batch boundaries

  @inline(__always)
  func hash(_ user: Bytes) -> UserHash { sip.hash(user) }

  /// Half of the keyed hash of a user: what the holder of a hold knows its user by.
  public func userHash(_ user: UnsafeRawBufferPointer) -> UInt64 { hash(user).first }

  /// Asks for the entry's cache line, so that a batch's misses overlap.
  @inline(__always)
  func prefetch(_ hash: UserHash) { cs_prefetch(index(shard(hash)).entry(hash)) }

  /// The user's block, whose words are yet to be looked at: prefetched, for `confirm` later.
  @inline(__always)
  func find(_ hash: UserHash) -> PackedBlock? {
    let shard = shard(hash)
    guard let (_, block) = index(shard).find(hash), block != ShardIndex.erased else { return nil }
    let words = UnsafePointer(BlockArena.address(block, in: directories[shard]))
    cs_prefetch(words)
    cs_prefetch(words + 8)
    return PackedBlock(words: words)
  }

  /// Whether the block is that user's: the last 32 of 128 bits.
  @inline(__always)
  func confirm(_ block: PackedBlock, _ hash: UserHash) -> Bool {
    block.hashRemainder == UInt32(truncatingIfNeeded: hash.second)
  }

  /// The newest defaults, over the policy's.
  var defaults: CategoryDefaults {
    CategoryDefaults(bits: packedDefaults.load(ordering: .acquiring))
  }

  // MARK: Writing, from one thread

  /// One record of `preferences.state`. A null value erases.
  public func apply(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, offset: Int64
  ) -> Applied {
    optOuts = CategorySet()
    guard let key, 1...CandidateDecoder.idBytesMax ~= key.count else { return .ignored }
    let hash = sip.hash(key)
    guard let value else {
      erase(hash)
      erasures.note(hash, offset: offset)
      return .erased
    }
    do throws(DocumentFault) {
      let (words, version, notes) = try decoder.decode(value, key: key, offset: offset)
      let before = store(words, hash)
      if let before, let version, version < before { return .storedOlderVersion(notes) }
      return .stored(notes)
    } catch {
      _ = store(PackedBlock.unreadable(offset: offset), hash)
      return .unreadable(error)
    }
  }

  /// One document without a key, whose user is the one it names: a line of a file. The result is
  /// `ignored` where it names none that can be read.
  public func apply(document value: UnsafeRawBufferPointer, offset: Int64) -> Applied {
    do throws(DocumentFault) {
      let (words, _, notes) = try decoder.decode(value, key: nil, offset: offset)
      _ = store(words, sip.hash(decoder.lastUserID!))
      return .stored(notes)
    } catch {
      guard let user = decoder.lastUserID else { return .ignored }
      _ = store(PackedBlock.unreadable(offset: offset), sip.hash(user))
      return .unreadable(error)
    }
  }

  /// One record of `preferences.defaults` (key = category). A null value goes back to the policy's.
  /// False where it was refused: unreadable, or off for security (requirements C6).
  public func applyDefault(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?
  ) -> Bool {
    guard let key, let category = Category(name: key) else { return false }
    var defaults = self.defaults
    if let value {
      guard let record = DefaultRecord(value), record.category == category else { return false }
      if category == .security, !record.on || !record.regulatedOn { return false }
      defaults.set(category, on: record.on, regulatedOn: record.regulatedOn)
    } else {
      defaults.clear(category)
    }
    packedDefaults.store(defaults.bits, ordering: .releasing)
    return true
  }

  /// The same for a record whose key is not at hand: a line of a file.
  public func applyDefault(record: UnsafeRawBufferPointer) -> Bool {
    guard let category = DefaultRecord(record)?.category else { return false }
    let name = category.name
    return applyDefault(
      key: Bytes(start: name.utf8Start, count: name.utf8CodeUnitCount), value: record)
  }

  /// Swaps the user's entry to a new block. Returns the version before.
  private func store(_ document: [UInt64], _ hash: UserHash) -> Int64? {
    let shard = shard(hash)
    let words =
      erasure(before: hash, shard).map { PackedBlock.adding(erasedOffset: $0, to: document) }
      ?? document
    let sizeClass = BlockArena.sizeClass(words: words.count)
    let bytesBefore = arenas[shard].memoryBytes
    let block = arenas[shard].allocate(sizeClass: sizeClass)
    addMemory(arenas[shard].memoryBytes - bytesBefore)
    let out = BlockArena.address(block, in: directories[shard])
    words.withUnsafeBufferPointer { out.update(from: $0.baseAddress!, count: $0.count) }
    out[0] |=
      UInt64(UInt32(truncatingIfNeeded: hash.second))
      | UInt64(sizeClass) << PackedBlock.sizeClassShift

    var index = index(shard)
    if let (entry, before) = index.find(hash) {
      index.set(entry, hash, block: block)
      guard before != ShardIndex.erased else {
        userCount.wrappingAdd(1, ordering: .relaxed)
        return nil
      }
      let old = PackedBlock(words: BlockArena.address(before, in: directories[shard]))
      let version = old.version
      optOuts = PackedBlock(words: out).accountOffs.subtracting(old.accountOffs)
      retire(before, shard: shard)
      return version
    }
    if index.isFull { index = grow(shard) }
    index.set(index.claim(hash), hash, block: block)
    userCount.wrappingAdd(1, ordering: .relaxed)
    return nil
  }

  /// The user's newest erasure that is known, which the next block takes over from the last one.
  private func erasure(before hash: UserHash, _ shard: Int) -> Int64? {
    guard let (_, block) = index(shard).find(hash), block != ShardIndex.erased else {
      return erasures.take(hash)
    }
    return PackedBlock(words: BlockArena.address(block, in: directories[shard])).erasedOffset
  }

  private func erase(_ hash: UserHash) {
    let shard = shard(hash)
    let index = index(shard)
    guard let (entry, block) = index.find(hash), block != ShardIndex.erased else { return }
    optOuts = CategorySet(Category.allCases).subtracting(
      PackedBlock(words: BlockArena.address(block, in: directories[shard])).accountOffs)
    index.set(entry, hash, block: ShardIndex.erased)
    userCount.wrappingSubtract(1, ordering: .relaxed)
    retire(block, shard: shard)
  }

  private func grow(_ shard: Int) -> ShardIndex {
    let old = index(shard)
    let larger = old.grown()
    // Pairs with the acquiring load in `index`.
    indexes[shard].store(UnsafeMutableRawPointer(larger.base), ordering: .releasing)
    waitingIndexes.append((epochs.advance(), old))
    addMemory(larger.memoryBytes)
    freeWhatNobodyReads()
    return larger
  }

  private func retire(_ block: UInt32, shard: Int) {
    let words = BlockArena.address(block, in: directories[shard])
    retired.append(
      Retired(shard: shard, block: block, sizeClass: PackedBlock(words: words).sizeClass))
    guard retired.count >= Self.retiredRun else { return }
    waiting.append((epochs.advance(), retired))
    retired.removeAll(keepingCapacity: true)
    freeWhatNobodyReads()
  }

  private func freeWhatNobodyReads() {
    while let first = waiting.first, epochs.haveAllPassed(first.epoch) {
      for entry in first.blocks {
        arenas[entry.shard].release(entry.block, sizeClass: entry.sizeClass)
      }
      waiting.removeFirst()
    }
    while let first = waitingIndexes.first, epochs.haveAllPassed(first.epoch) {
      addMemory(-first.index.memoryBytes)
      first.index.deallocate()
      waitingIndexes.removeFirst()
    }
  }

  /// One thread writes, so that a load and a store do.
  private func addMemory(_ bytes: Int) {
    memory.store(memory.load(ordering: .relaxed) + bytes, ordering: .relaxed)
  }
}

/// 128 bits of keyed hash of a user, a notification id and a device. No id is kept.
typealias SeenHash = UserHash

/// Hashes in the order of first approval, 24 bytes each. Their memory comes and goes by the piece; a
/// queue that only moves on allocates nothing.
struct SeenQueue: ~Copyable {
  struct Entry {
    var hash: SeenHash
    /// The instant in the upper 48 bits, the content's digest in the lower 16.
    private var stamp: Int64

    init(hash: SeenHash, atMs: Int64, content: UInt16) {
      self.hash = hash
      stamp = atMs << 16 | Int64(content)
    }

    /// Of the first approval.
    @inline(__always)
    var atMs: Int64 { stamp >> 16 }
    @inline(__always)
    var content: UInt16 { UInt16(truncatingIfNeeded: stamp) }

    /// In place of the stamp where another entry stands for the id, or none does.
    private static let gone = Int64.min
    var isGone: Bool { stamp == Self.gone }
    mutating func makeGone() { stamp = Self.gone }
  }

  private static let chunkEntries: Int64 = 1024
  private typealias Chunk = UnsafeMutablePointer<Entry>

  private var chunks: [Chunk] = []
  /// Number of the piece that `chunks` begins with.
  private var firstChunk: Int64 = 0
  private var spare: Chunk?
  /// Places: of the oldest entry, behind the newest, behind the newest that is committed.
  private(set) var head: Int64 = 0
  private(set) var tail: Int64 = 0
  private(set) var committed: Int64 = 0
  /// Entries that are not gone.
  private(set) var live = 0

  deinit {
    for chunk in chunks { chunk.deallocate() }
    spare?.deallocate()
  }

  var isEmpty: Bool { head == tail }

  var memoryBytes: Int {
    (chunks.count + (spare == nil ? 0 : 1)) * Int(Self.chunkEntries) * MemoryLayout<Entry>.stride
  }

  @inline(__always)
  private func pointer(_ place: Int64) -> Chunk {
    chunks[Int(place / Self.chunkEntries - firstChunk)] + Int(place % Self.chunkEntries)
  }

  @inline(__always)
  subscript(place: Int64) -> Entry { pointer(place).pointee }

  var oldest: Entry { self[head] }

  mutating func append(_ entry: Entry) {
    if Int(tail / Self.chunkEntries - firstChunk) == chunks.count {
      chunks.append(spare ?? .allocate(capacity: Int(Self.chunkEntries)))
      spare = nil
    }
    pointer(tail).initialize(to: entry)
    tail += 1
    live += 1
  }

  mutating func makeGone(_ place: Int64) {
    pointer(place).pointee.makeGone()
    live -= 1
  }

  /// Everything appended is there to stay.
  mutating func commit() { committed = tail }

  /// Takes the newest entry back, unless it is committed.
  mutating func removeUncommitted() -> Entry? {
    guard tail > committed else { return nil }
    tail -= 1
    let entry = self[tail]
    if !entry.isGone { live -= 1 }
    return entry
  }

  mutating func removeOldest() {
    if !oldest.isGone { live -= 1 }
    head += 1
    guard head % Self.chunkEntries == 0 else { return }
    let emptied = chunks.removeFirst()
    firstChunk += 1
    if spare == nil { spare = emptied } else { emptied.deallocate() }
  }
}

import Gate

/// The newest approvals of a lane, in the order they were decided: written behind one another, so that
/// noting one costs no look-up; read backwards where somebody has opted out. What an abort undoes is
/// cut off the end; the oldest are written over.
struct ApprovalRing: ~Copyable {
  struct Approval {
    var user: UInt64
    var decidedAtMs: Int64
    /// Offset of the document that it was decided by, and the category in the low two bits.
    private var offsetAndCategory: Int64

    init(user: UInt64, category: Category, decidedAtMs: Int64, offset: Int64) {
      self.user = user
      self.decidedAtMs = decidedAtMs
      offsetAndCategory = offset << 2 | Int64(category.rawValue)
    }

    var offset: Int64 { offsetAndCategory >> 2 }
    var category: Category { Category(rawValue: UInt8(offsetAndCategory & 3))! }
  }

  private let base: UnsafeMutablePointer<Approval>
  private let mask: Int
  /// How many were ever noted and not undone; those of the open transaction stand behind `committed`.
  private var end = 0
  private var committed = 0
  /// The first that was not written over.
  private var first = 0

  /// - Parameter capacity: a power of two. Memory that was never written to is none.
  init(capacity: Int) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0, "\(capacity) is no power of two")
    base = .allocate(capacity: capacity)
    mask = capacity - 1
  }

  deinit { base.deallocate() }

  @inline(__always)
  mutating func append(_ approval: Approval) {
    (base + (end & mask)).initialize(to: approval)
    end += 1
    first = max(first, end - mask - 1)
  }

  mutating func commit() { committed = end }

  mutating func rollback() { end = max(committed, first) }

  /// Everything that was decided after it is still there.
  var knownSinceMs: Int64 {
    if first == 0 { return .min }
    return end > first ? base[first & mask].decidedAtMs : .max
  }

  /// From the newest to the oldest, until `body` says to stop.
  func reversed(_ body: (Approval) -> Bool) {
    var at = end
    while at > first {
      at -= 1
      if !body(base[at & mask]) { return }
    }
  }
}

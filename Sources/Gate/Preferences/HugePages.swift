import Glibc

/// Memory that look-ups reach at random. On pages of 2 MB, where the system has them, a miss of the
/// cache is not a miss of the page tables too: with a hundred million devices that is the larger part.
enum HugePages {
  private static let pageBytes = 2 << 20
  /// `MADV_COLLAPSE`, since Linux 6.1; older ones refuse it.
  private static let adviceCollapse: Int32 = 25

  /// Not initialised; freed by `deallocate`.
  /// - Parameter whenFull: large pages are asked for later, by `collapse`.
  static func allocate(words: Int, whenFull: Bool = false) -> UnsafeMutablePointer<UInt64> {
    let bytes = words * 8
    guard bytes >= pageBytes else { return .allocate(capacity: words) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: pageBytes)
    // Best effort: without it everything is as before, only slower.
    if !whenFull { _ = madvise(memory, bytes, MADV_HUGEPAGE) }
    return memory.bindMemory(to: UInt64.self, capacity: words)
  }

  /// Puts memory that has been written on large pages; whoever reads it meanwhile waits.
  static func collapse(_ memory: UnsafeMutablePointer<UInt64>, words: Int) {
    _ = madvise(memory, words * 8, MADV_HUGEPAGE)
    _ = madvise(memory, words * 8, adviceCollapse)
  }
}

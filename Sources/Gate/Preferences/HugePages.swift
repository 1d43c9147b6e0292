import Glibc

/// Memory that look-ups reach at random. On pages of 2 MB, where the system has them, a miss of the
/// cache is not a miss of the page tables too: with a hundred million devices that is the larger part.
///
/// Large runs come from the system and go back to it: what an index leaves behind when it grows is
/// too small for the next one, and the C library would keep it.
enum HugePages {
  private static let pageBytes = 2 << 20
  /// `MADV_COLLAPSE`, since Linux 6.1; older ones refuse it.
  private static let adviceCollapse: Int32 = 25

  /// Not initialised.
  /// - Parameter whenFull: large pages are asked for later, by `collapse`.
  static func allocate(words: Int, whenFull: Bool = false) -> UnsafeMutablePointer<UInt64> {
    let bytes = words * 8
    guard bytes >= pageBytes else { return .allocate(capacity: words) }
    let memory = map(bytes)
    // Best effort: without it everything is as before, only slower.
    if !whenFull { _ = madvise(memory, bytes, MADV_HUGEPAGE) }
    return memory.bindMemory(to: UInt64.self, capacity: words)
  }

  static func deallocate(_ memory: UnsafeMutablePointer<UInt64>, words: Int) {
    guard words * 8 >= pageBytes else { return memory.deallocate() }
    munmap(memory, words * 8)
  }

  /// Puts memory that has been written on large pages; whoever reads it meanwhile waits.
  static func collapse(_ memory: UnsafeMutablePointer<UInt64>, words: Int) {
    _ = madvise(memory, words * 8, MADV_HUGEPAGE)
    _ = madvise(memory, words * 8, adviceCollapse)
  }

  /// Begins where a large page can.
  private static func map(_ bytes: Int) -> UnsafeMutableRawPointer {
    let whole = mmap(
      nil, bytes + pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let whole, whole != UnsafeMutableRawPointer(bitPattern: -1) else {
      preconditionFailure("out of memory")
    }
    let before = -Int(bitPattern: whole) & (pageBytes - 1)
    if before > 0 { munmap(whole, before) }
    // By the system's own pages, the last of which may be a part.
    let end = (before + bytes + 4095) & ~4095
    if end < bytes + pageBytes { munmap(whole + end, bytes + pageBytes - end) }
    return whole + before
  }
}

/// Where one shard's blocks live: chunks that never move, so that a block is named by 32 bits and a
/// reader follows the name without a lock. One writer; readers only follow names.
final class BlockArena {
  private static let chunkWordsShift = 18
  private static let chunkWords = 1 << chunkWordsShift
  private static let chunksMax = 1 << 12
  /// Classes up to this many words are exact; beyond, each is an eighth or more larger than the last.
  private static let exactWords = 32

  /// The words of each size class.
  static let classWords: [Int] = {
    var sizes = Array(1...exactWords)
    while sizes.count < 64 {
      let last = sizes[sizes.count - 1]
      sizes.append(last + max(4, last * 9 / 32))
    }
    return sizes
  }()

  static let blockWordsMax = min(classWords[63], chunkWords)

  /// Of every chunk, its first word. Written before a block in it is published.
  let directory: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>>
  private var chunkCount = 0
  private var nextWord = chunkWords
  private var free: [[UInt32]] = Array(repeating: [], count: 64)

  init() { directory = .allocate(capacity: Self.chunksMax) }

  deinit {
    for chunk in 0..<chunkCount {
      HugePages.deallocate(directory[chunk], words: Self.chunkWords)
    }
    directory.deallocate()
  }

  /// Bytes that hold blocks or have held them: the rest of the last chunk was never touched, so the
  /// system has given no memory for it.
  var memoryBytes: Int {
    chunkCount == 0 ? 0 : ((chunkCount - 1) * Self.chunkWords + nextWord) * 8
  }

  @inline(__always)
  static func address(
    _ block: UInt32, in directory: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>>
  ) -> UnsafeMutablePointer<UInt64> {
    directory[Int(block >> UInt32(chunkWordsShift))] + Int(block & UInt32(chunkWords - 1))
  }

  static func sizeClass(words: Int) -> Int {
    if words <= exactWords { return words - 1 }
    return classWords.firstIndex { $0 >= words }!
  }

  /// A block of at least that class's words, holding whatever was there before.
  func allocate(sizeClass: Int) -> UInt32 {
    if let block = free[sizeClass].popLast() { return block }
    let words = Self.classWords[sizeClass]
    if nextWord + words > Self.chunkWords {
      precondition(chunkCount < Self.chunksMax, "a shard of the preference table is full (8 GiB)")
      // Not before it is full: a large page takes all of its memory at once.
      if chunkCount > 0 {
        HugePages.collapse(directory[chunkCount - 1], words: Self.chunkWords)
      }
      directory[chunkCount] = HugePages.allocate(words: Self.chunkWords, whenFull: true)
      chunkCount += 1
      // Names 0 and 1 of the first chunk mean "never" and "erased" in the index.
      nextWord = chunkCount == 1 ? 2 : 0
    }
    let block = UInt32((chunkCount - 1) << Self.chunkWordsShift + nextWord)
    nextWord += words
    return block
  }

  /// No reader can reach the block any more.
  func release(_ block: UInt32, sizeClass: Int) { free[sizeClass].append(block) }
}

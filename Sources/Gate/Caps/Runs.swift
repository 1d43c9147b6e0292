/// Memory in runs of equal length, named by numbers from 1 on. What is given back is handed out
/// again, so that whoever only comes and goes allocates nothing.
final class Runs<Element> {
  typealias Pointer = UnsafeMutablePointer<Element>

  /// Elements of a run, and runs of a chunk: powers of two.
  private let widthShift: Int
  private let chunkShift: Int
  private var chunks: [Pointer] = []
  /// The highest number so far.
  private(set) var made: UInt32 = 0
  /// The run to hand out next, whose first bytes name the one after it; 0: none.
  private var free: UInt32 = 0

  init(widthShift: Int) {
    precondition(MemoryLayout<Element>.stride >= MemoryLayout<UInt32>.stride)
    self.widthShift = widthShift
    chunkShift = max(0, 10 - widthShift)
  }

  deinit { for chunk in chunks { chunk.deallocate() } }

  var memoryBytes: Int {
    (chunks.count << (chunkShift + widthShift)) * MemoryLayout<Element>.stride
  }

  @inline(__always)
  subscript(name: UInt32) -> Pointer {
    let place = Int(name) - 1
    return chunks[place >> chunkShift] + (place & (1 << chunkShift - 1)) << widthShift
  }

  func take() -> UInt32 {
    if free != 0 {
      let name = free
      free = UnsafeRawPointer(self[name]).loadUnaligned(as: UInt32.self)
      return name
    }
    if Int(made) == chunks.count << chunkShift {
      chunks.append(.allocate(capacity: 1 << (chunkShift + widthShift)))
    }
    made += 1
    return made
  }

  /// Overwrites the run's first four bytes.
  func give(_ name: UInt32) {
    UnsafeMutableRawPointer(self[name]).storeBytes(of: free, as: UInt32.self)
    free = name
  }
}

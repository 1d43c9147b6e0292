import Glibc

/// Memory from the C library, resized in place where it can be: a large run is remapped, not copied, so
/// it may grow in small steps and carry no slack.
enum MemoryRun {
  /// `pointer` is not looked at where `from` is 0; where `to` is 0 the result is not to be.
  static func resize<T: BitwiseCopyable>(
    _ pointer: UnsafeMutablePointer<T>, from: Int, to: Int
  ) -> UnsafeMutablePointer<T> {
    guard to > 0 else {
      if from > 0 { free(pointer) }
      return UnsafeMutablePointer(bitPattern: 0x10)!
    }
    let old = from > 0 ? UnsafeMutableRawPointer(pointer) : nil
    guard let moved = realloc(old, to * MemoryLayout<T>.stride) else {
      preconditionFailure("out of memory")
    }
    return moved.bindMemory(to: T.self, capacity: to)
  }
}

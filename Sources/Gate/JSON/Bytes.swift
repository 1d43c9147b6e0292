import Glibc

/// A borrowed run of bytes: no copy, no String.
typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
  /// Same length and same bytes; the text of a `StaticString` is its UTF-8.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount
      // The text's own count is known when this is compiled, so that short ones take no call.
      && memcmp(
        baseAddress ?? UnsafeRawPointer(text.utf8Start), text.utf8Start, text.utf8CodeUnitCount)
        == 0
  }

  /// Whether `holds` is true of all bytes, eight at a time; fewer than eight are filled up with
  /// blanks. A word may be shown twice in part.
  @inline(__always)
  func allWords(_ holds: (UInt64) -> Bool) -> Bool {
    guard count >= 8 else {
      var word: UInt64 = 0x2020_2020_2020_2020
      for byte in self { word = word << 8 | UInt64(byte) }
      return holds(word)
    }
    var at = 0
    while at + 8 < count {
      guard holds(loadUnaligned(fromByteOffset: at, as: UInt64.self)) else { return false }
      at += 8
    }
    return holds(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
  }

  @inline(__always)
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let a = baseAddress, let b = other.baseAddress else { return count == 0 }
    return memcmp(a, b, count) == 0
  }
}

/// Questions about eight bytes at once.
extension UInt64 {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let tops: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  func hasByte(_ byte: UInt8) -> Bool {
    let zeroWhereEqual = self ^ (Self.ones &* UInt64(byte))
    return (zeroWhereEqual &- Self.ones) & ~zeroWhereEqual & Self.tops != 0
  }

  /// - Parameter limit: at most 128.
  @inline(__always)
  func hasByte(below limit: UInt8) -> Bool {
    (self &- Self.ones &* UInt64(limit)) & ~self & Self.tops != 0
  }

  @inline(__always)
  var isASCII: Bool { self & Self.tops == 0 }
}

import Glibc

/// A borrowed run of bytes: no copy, no String.
typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
  /// Same length and same bytes; the text of a `StaticString` is its UTF-8.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount
      && memcmp(baseAddress ?? UnsafeRawPointer(text.utf8Start), text.utf8Start, count) == 0
  }

  @inline(__always)
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let a = baseAddress, let b = other.baseAddress else { return count == 0 }
    return memcmp(a, b, count) == 0
  }
}

/// What a zone's name may look like.
public enum ZoneName {
  public static let bytesMax = 64

  /// Letters, digits, `+`, `-`, `_`, in components parted by single slashes, 1 to 64 bytes. No dot:
  /// no zone has one, while `..`, `zone.tab` and a package manager's `Paris.dpkg-new` do.
  public static func isWellFormed(_ name: UnsafeRawBufferPointer) -> Bool {
    guard (1...bytesMax).contains(name.count) else { return false }
    var componentBytes = 0
    for byte in name {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        componentBytes += 1
      case UInt8(ascii: "/"):
        if componentBytes == 0 { return false }
        componentBytes = 0
      default: return false
      }
    }
    return componentBytes > 0
  }
}

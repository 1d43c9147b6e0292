import Gate

/// The id of a user, device, event or notification, or the name of a subtype.
///
/// Compared byte by byte: `String` counts two ids that differ only in how an accent is composed as
/// one, while on Kafka and in the gate they are two users.
public struct Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let text: String

  public init(_ text: String) { self.text = text }

  public var description: String { text }

  public static func == (a: Identifier, b: Identifier) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  public static func < (a: Identifier, b: Identifier) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}

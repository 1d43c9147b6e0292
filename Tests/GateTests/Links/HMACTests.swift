import Testing

@testable import Gate

/// RFC 4231, section 4: HMAC-SHA-256.
@Suite struct HMACTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var key: [UInt8]
    var data: [UInt8]
    var tag: String
    var testDescription: String { name }
  }

  static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  static let vectors = [
    Vector(
      name: "4.2", key: Array(repeating: 0x0b, count: 20), data: bytes("Hi There"),
      tag: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Vector(
      name: "4.3, a key shorter than the tag", key: bytes("Jefe"),
      data: bytes("what do ya want for nothing?"),
      tag: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Vector(
      name: "4.4, more than a block with the pad", key: Array(repeating: 0xaa, count: 20),
      data: Array(repeating: 0xdd, count: 50),
      tag: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Vector(
      name: "4.5", key: Array(1...25), data: Array(repeating: 0xcd, count: 50),
      tag: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Vector(
      name: "4.7, a key larger than a block", key: Array(repeating: 0xaa, count: 131),
      data: bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
      tag: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Vector(
      name: "4.8, data larger than a block too", key: Array(repeating: 0xaa, count: 131),
      data: bytes(
        "This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm."),
      tag: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test(arguments: vectors) func agreesWith(_ vector: Vector) {
    let key = vector.key.withUnsafeBytes { HMACKey(secret: $0) }
    var tag = [UInt8](repeating: 0, count: HMACKey.tagBytes)
    vector.data.withUnsafeBytes { key.sign($0, into: &tag) }
    #expect(
      tag.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == vector.tag)
    vector.data.withUnsafeBytes { data in
      tag.withUnsafeBytes { #expect(key.signs(data, tag: $0)) }
      tag.dropLast().withUnsafeBytes { #expect(!key.signs(data, tag: $0)) }
    }
  }

  /// 4.6: the tag's first half is compared there; a tag of ours is whole.
  @Test func truncation() {
    let key = Array(repeating: UInt8(0x0c), count: 20).withUnsafeBytes { HMACKey(secret: $0) }
    var tag = [UInt8](repeating: 0, count: HMACKey.tagBytes)
    withBytes("Test With Truncation") { key.sign($0, into: &tag) }
    #expect(
      tag.prefix(16) == [
        0xa3, 0xb6, 0x16, 0x74, 0x73, 0x10, 0x0e, 0xe0, 0x6e, 0x0c, 0x79, 0x6c, 0x29, 0x55, 0x55,
        0x2b,
      ])
    withBytes("Test With Truncation") { data in
      tag.prefix(16).withUnsafeBytes { #expect(!key.signs(data, tag: $0)) }
    }
  }
}

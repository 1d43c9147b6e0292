import Testing

@testable import Gate

/// Signed links: what was signed is read back, and nothing else is (requirements U2).
@Suite struct LinkTests {
  static func secret(_ seed: UInt8) -> [UInt8] { (0..<32).map { seed &+ $0 &* 7 } }
  static let keys = LinkKeys(secrets: [1: secret(1), 2: secret(2), 500: secret(3)], signingID: 2)
  static let verifier = LinkVerifier(keys)
  static let now: Int64 = 1_773_095_400

  static let unsubscribe = Link(
    purpose: .unsubscribe, category: .marketing, userID: "u-1", notificationID: "n-1",
    expiresAtSeconds: now + 60)

  private static func alphabet() -> [UInt8] {
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The layout, byte by byte, beside the code that makes it: links live longer than versions.
  @Test func isTheTextThatItWas() throws {
    let token = LinkWriter(Self.keys).token(Self.unsubscribe)
    var bytes = [UInt8](repeating: 0, count: 400)
    let count = try #require(
      withBytes(token) { token in
        bytes.withUnsafeMutableBufferPointer { Base64URL.decode(token, into: $0) }
      })
    let head: [UInt8] = [1, 0, 2, 1, 4, 0, 0x69, 0xAF, 0x4A, 0x24]
    #expect(Array(bytes[..<10]) == head)
    #expect(Array(bytes[10..<(count - 32)]) == [3] + Array("u-1".utf8) + [3] + Array("n-1".utf8))
    #expect(
      token
        == "AQACAQQAaa9KJAN1LTEDbi0x-9VY9R0cFXxfHvKoF2N3uAd_zgNZwsqp6mOb2w7mn1Y")
  }

  @Test func everyLinkIsReadBack() {
    var generator = SeededGenerator()
    let ids = ["u", "é", "漢字", String(repeating: "x", count: 128), "a/b?c=d&e", "\"", "1"]
    for signing in [UInt16(1), 2, 500] {
      let writer = LinkWriter(
        LinkKeys(
          secrets: [1: Self.secret(1), 2: Self.secret(2), 500: Self.secret(3)], signingID: signing))
      for purpose in LinkPurpose.allCases {
        for category in Category.allCases.map(Optional.some) + [nil] {
          for user in ids {
            let link = Link(
              purpose: purpose, category: category, userID: user,
              notificationID: ids.map(Optional.some).appending(nil).randomElement(
                using: &generator)!,
              expiresAtSeconds: Int64.random(
                in: Self.now + 1...LinkLayout.expiryMax, using: &generator))
            let token = writer.token(link)
            #expect(Self.verifier.verify(token, nowSeconds: Self.now) == .success(link))
            #expect(token.utf8.count <= LinkWriter.tokenBytesMax)
            #expect(token.utf8.allSatisfy { Self.alphabet().contains($0) })
          }
        }
      }
    }
  }

  /// To the second, and only behind the signature: a forged one does not even learn that it is late.
  @Test func expires() {
    let token = LinkWriter(Self.keys).token(Self.unsubscribe)
    for (now, good) in [(0, true), (59, true), (60, false), (61, false), (1 << 40, false)] {
      let result = Self.verifier.verify(token, nowSeconds: Self.now + Int64(now))
      #expect(result == (good ? .success(Self.unsubscribe) : .failure(.expired)), "\(now)")
    }
    // What is past what five bytes hold is good until then.
    var far = Self.unsubscribe
    far.expiresAtSeconds = .max
    let clamped = LinkWriter(Self.keys).token(far)
    far.expiresAtSeconds = LinkLayout.expiryMax
    #expect(Self.verifier.verify(clamped, nowSeconds: Self.now) == .success(far))
    far.expiresAtSeconds = -5
    #expect(
      Self.verifier.verify(LinkWriter(Self.keys).token(far), nowSeconds: 0) == .failure(.expired))
  }

  /// Every bit of every byte of the text, and of the bytes beneath it.
  @Test func noSingleBitMayDiffer() throws {
    let links = [
      Self.unsubscribe,
      Link(
        purpose: .settings, category: nil, userID: "漢字", notificationID: nil,
        expiresAtSeconds: Self.now + 60),
    ]
    for link in links {
      let token = LinkWriter(Self.keys).token(link)
      let text = Array(token.utf8)
      for at in text.indices {
        for bit in 0..<8 {
          var changed = text
          changed[at] ^= 1 << UInt8(bit)
          #expect(isRefused(changed), "bit \(bit) of character \(at)")
        }
      }
      var bytes = [UInt8](repeating: 0, count: 400)
      let count = try #require(
        withBytes(token) { token in
          bytes.withUnsafeMutableBufferPointer { Base64URL.decode(token, into: $0) }
        })
      for at in 0..<count {
        for bit in 0..<8 {
          var changed = Array(bytes[..<count])
          changed[at] ^= 1 << UInt8(bit)
          #expect(isRefused(Self.encoded(changed)), "bit \(bit) of byte \(at)")
        }
      }
    }
  }

  @Test func noCharacterMayBeMissingOrMore() {
    let text = Array(LinkWriter(Self.keys).token(Self.unsubscribe).utf8)
    for count in 0..<text.count {
      #expect(isRefused(Array(text[..<count])) && isRefused(Array(text[(text.count - count)...])))
    }
    for more in Self.alphabet() + Array("=+/ \n\0.".utf8) {
      #expect(isRefused(text + [more]) && isRefused([more] + text), "\(more)")
      #expect(isRefused(text + [more, more]) && isRefused(text + [more, more, more, more]))
    }
    #expect(isRefused([]) && isRefused(Array(repeating: UInt8(ascii: "A"), count: 100_000)))
  }

  /// One link has one text: the bits that the last character has to spare are zero.
  @Test func thereIsOneTextOfALink() {
    for id in ["u", "uu", "uuu"] {
      var link = Self.unsubscribe
      link.userID = id
      let token = Array(LinkWriter(Self.keys).token(link).utf8)
      let good = Self.alphabet().filter { last in
        !isRefused(token.dropLast() + [last])
      }
      #expect(good == [token.last!])
    }
  }

  @Test func arbitraryTextIsAnsweredAndRefused() {
    var generator = SeededGenerator()
    for _ in 0..<20_000 {
      let count = Int.random(in: 0..<200, using: &generator)
      let text = (0..<count).map { _ in Self.alphabet().randomElement(using: &generator)! }
      #expect(isRefused(text), "seed \(generator.seed)")
    }
  }

  /// Signed with the right key, and still nothing: as a later version might write it.
  @Test func whatItDoesNotKnowIsNoLink() {
    let key = Self.secret(2).withUnsafeBytes { HMACKey(secret: $0) }
    func signed(_ body: [UInt8]) -> [UInt8] {
      var tag = [UInt8](repeating: 0, count: 32)
      body.withUnsafeBytes { key.sign($0, into: &tag) }
      return Self.encoded(body + tag)
    }
    let expiry: [UInt8] = [0xFF, 0, 0, 0, 0]
    let ids: [UInt8] = [1, 0x75, 1, 0x6E]
    #expect(!isRefused(signed([1, 0, 2, 1, 4] + expiry + ids)))
    for (body, why) in [
      ([1, 0, 2, 9, 4] + expiry + ids, "purpose"), ([1, 0, 2, 1, 5] + expiry + ids, "category"),
      ([2, 0, 2, 1, 4] + expiry + ids, "format"),
      ([1, 0, 2, 1, 4] + expiry + [0, 1, 0x6E], "no user"),
      ([1, 0, 2, 1, 4] + expiry + [1, 0x75, 2, 0x6E], "too long an id"),
      ([1, 0, 2, 1, 4] + expiry + ids + [0], "something behind it"),
      ([1, 0, 2, 1, 4] + expiry + [1, 0xFF, 1, 0x6E], "no UTF-8"),
      ([1, 0, 2, 1, 4] + expiry + [1, 0x75], "no notification"),
    ] as [([UInt8], String)] {
      #expect(
        Self.verifier.verify(Self.text(signed(body)), nowSeconds: 0) == .failure(.malformed),
        "\(why)")
    }
  }

  @Test func keysComeAndGo() {
    let old = LinkKeys(secrets: [1: Self.secret(1)], signingID: 1)
    let both = LinkKeys(secrets: [1: Self.secret(1), 2: Self.secret(2)], signingID: 2)
    let new = LinkKeys(secrets: [2: Self.secret(2)], signingID: 2)
    let before = LinkWriter(old).token(Self.unsubscribe)
    let after = LinkWriter(both).token(Self.unsubscribe)
    func verdict(_ keys: LinkKeys, _ token: String) -> LinkFault? {
      if case .failure(let fault) = LinkVerifier(keys).verify(token, nowSeconds: Self.now) {
        return fault
      }
      return nil
    }
    #expect(verdict(both, before) == nil && verdict(both, after) == nil)
    #expect(verdict(old, after) == .unknownKey && verdict(new, before) == .unknownKey)
    // Another secret under the same id.
    let other = LinkKeys(secrets: [1: Self.secret(9)], signingID: 1)
    #expect(verdict(other, before) == .forged)
  }

  private func isRefused(_ text: [UInt8]) -> Bool {
    let result = text.withUnsafeBytes { Self.verifier.verify($0, nowSeconds: Self.now) }
    if case .success = result { return false }
    return true
  }

  /// Not the code under test.
  private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - UInt8($0)) & 1 } }
    return stride(from: 0, to: bits.count, by: 6).map { at in
      let six = (0..<6).reduce(0) { $0 << 1 | (at + $1 < bits.count ? Int(bits[at + $1]) : 0) }
      return alphabet()[six]
    }
  }
}

extension Array {
  fileprivate func appending(_ element: Element) -> [Element] { self + [element] }
}

/// Says whether a token is one that a key of ours signed, and what it stands for. Whatever is sent, the
/// answer is a link or a fault.
public struct LinkVerifier: Sendable {
  private let keys: LinkKeys

  public init(_ keys: LinkKeys) { self.keys = keys }

  /// - Parameter nowSeconds: since the epoch.
  public func verify(_ token: String, nowSeconds: Int64) -> Result<Link, LinkFault> {
    var token = token
    return token.withUTF8 { verify(Bytes($0), nowSeconds: nowSeconds) }
  }

  func verify(_ token: Bytes, nowSeconds: Int64) -> Result<Link, LinkFault> {
    guard token.count <= LinkLayout.textBytesMax else { return .failure(.malformed) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: LinkLayout.bytesMax) { space in
      guard let count = Base64URL.decode(token, into: space) else { return .failure(.malformed) }
      return read(Bytes(rebasing: Bytes(space)[..<count]), nowSeconds: nowSeconds)
    }
  }

  private func read(_ bytes: Bytes, nowSeconds: Int64) -> Result<Link, LinkFault> {
    guard bytes.count >= LinkLayout.bytesMin, bytes[0] == LinkLayout.format else {
      return .failure(.malformed)
    }
    guard let key = keys.byID[UInt16(bytes[1]) << 8 | UInt16(bytes[2])] else {
      return .failure(.unknownKey)
    }
    let body = Bytes(rebasing: bytes.dropLast(HMACKey.tagBytes))
    let tag = Bytes(rebasing: bytes.suffix(HMACKey.tagBytes))
    // Before anything else is believed of it.
    guard key.signs(body, tag: tag) else { return .failure(.forged) }
    guard let link = Self.link(body) else { return .failure(.malformed) }
    return nowSeconds < link.expiresAtSeconds ? .success(link) : .failure(.expired)
  }

  /// Nil where a later version, or another purpose of the key, has signed something else.
  private static func link(_ body: Bytes) -> Link? {
    var at = LinkLayout.headBytes
    guard let purpose = LinkPurpose(rawValue: body[3]),
      let category = LinkLayout.category(body[4]),
      let user = id(body, &at), !user.isEmpty, let notification = id(body, &at), at == body.count
    else { return nil }
    return Link(
      purpose: purpose, category: category, userID: user,
      notificationID: notification.isEmpty ? nil : notification,
      expiresAtSeconds: body[5..<10].reduce(0) { $0 << 8 | Int64($1) })
  }

  private static func id(_ body: Bytes, _ at: inout Int) -> String? {
    guard at < body.count, at + 1 + Int(body[at]) <= body.count else { return nil }
    let from = at + 1
    at = from + Int(body[at])
    return String(validating: body[from..<at], as: UTF8.self)
  }
}

/// RFC 4648 section 5, without padding, and only as it is written here: bits that no byte needs must be
/// zero, or one link would have several texts.
enum Base64URL {
  /// Returns how many bytes were written; nil where the text is not base64url, or there is no room.
  static func decode(_ text: Bytes, into out: UnsafeMutableBufferPointer<UInt8>) -> Int? {
    guard text.count % 4 != 1, text.count / 4 * 3 + max(0, text.count % 4 - 1) <= out.count else {
      return nil
    }
    var bits: UInt32 = 0
    var bitCount = 0
    var count = 0
    for byte in text {
      guard let digit = digit(byte) else { return nil }
      bits = bits << 6 | UInt32(digit)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        out[count] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
        count += 1
      }
    }
    return bits & (1 << UInt32(bitCount) - 1) == 0 ? count : nil
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

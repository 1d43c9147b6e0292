import CCrypto

/// Signs links with the signing key, into memory of the caller's. One thread's.
public final class LinkWriter {
  /// The most that one token takes.
  public static let tokenBytesMax = LinkLayout.textBytesMax

  private let keyID: UInt16
  private let key: HMACKey
  private let body: UnsafeMutablePointer<UInt8>

  public init(_ keys: LinkKeys) {
    keyID = keys.signingID
    key = keys.signing
    body = .allocate(capacity: LinkLayout.bytesMax)
  }

  deinit { body.deallocate() }

  /// Writes the token of a link and returns its length; there is room for `tokenBytesMax`. Allocates
  /// nothing.
  /// - Parameters:
  ///   - user: 1 to 128 bytes.
  ///   - notification: 1 to 128 bytes, or none.
  public func write(
    _ purpose: LinkPurpose, category: Category?, user: UnsafeRawBufferPointer,
    notification: UnsafeRawBufferPointer?, expiresAtSeconds: Int64,
    into out: UnsafeMutablePointer<UInt8>
  ) -> Int {
    precondition(1...LinkLayout.idBytesMax ~= user.count, "no user id")
    let expiry = min(max(0, expiresAtSeconds), LinkLayout.expiryMax)
    body[0] = LinkLayout.format
    body[1] = UInt8(keyID >> 8)
    body[2] = UInt8(truncatingIfNeeded: keyID)
    body[3] = purpose.rawValue
    body[4] = LinkLayout.code(category)
    for i in 0..<5 { body[5 + i] = UInt8(truncatingIfNeeded: expiry >> Int64(32 - 8 * i)) }
    var end = LinkLayout.headBytes
    append(user, &end)
    if let notification {
      append(notification, &end)
    } else {
      body[end] = 0
      end += 1
    }
    key.sign(Bytes(start: body, count: end), into: body + end)
    return cc_base64url(body, end + HMACKey.tagBytes, out)
  }

  @inline(__always)
  private func append(_ id: Bytes, _ end: inout Int) {
    precondition(id.count <= LinkLayout.idBytesMax, "an id that is too long")
    body[end] = UInt8(id.count)
    (body + end + 1).update(from: id.bindMemory(to: UInt8.self).baseAddress!, count: id.count)
    end += 1 + id.count
  }

  /// The same as text, off the hot path.
  public func token(_ link: Link) -> String {
    var user = link.userID
    var notification = link.notificationID ?? ""
    return user.withUTF8 { user in
      notification.withUTF8 { notification in
        String(unsafeUninitializedCapacity: Self.tokenBytesMax) {
          write(
            link.purpose, category: link.category, user: Bytes(user),
            notification: link.notificationID == nil ? nil : Bytes(notification),
            expiresAtSeconds: link.expiresAtSeconds, into: $0.baseAddress!)
        }
      }
    }
  }
}

/// The keys of signed links: one that signs, and those whose links are still good.
public struct LinkKeys: Sendable {
  public static let secretBytes = 32

  let byID: [UInt16: HMACKey]
  public let signingID: UInt16

  /// - Parameters:
  ///   - secrets: by id; of `secretBytes` each.
  ///   - signingID: of one of them.
  public init(secrets: [UInt16: [UInt8]], signingID: UInt16) {
    precondition(secrets[signingID] != nil, "key \(signingID) signs and is not there")
    byID = secrets.mapValues { secret in
      precondition(secret.count == Self.secretBytes, "a secret of \(secret.count) bytes")
      return secret.withUnsafeBytes { HMACKey(secret: $0) }
    }
    self.signingID = signingID
  }

  public var count: Int { byID.count }

  var signing: HMACKey { byID[signingID]! }
}

/// What the gate needs to put links into approvals, and the service to make more of them.
public struct LinkSettings: Sendable {
  public var keys: LinkKeys
  /// What stands before `/u/` and the token: no slash at its end, nothing that JSON or HTML would have
  /// to escape.
  public var baseURL: String
  public var lifetimeSeconds: Int64

  public init(keys: LinkKeys, baseURL: String, lifetimeSeconds: Int64) {
    self.keys = keys
    self.baseURL = baseURL
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// A link that lives from now for `lifetimeSeconds`.
  public func url(
    _ purpose: LinkPurpose, category: Category?, userID: String, notificationID: String?,
    nowSeconds: Int64
  ) -> String {
    let link = Link(
      purpose: purpose, category: category, userID: userID, notificationID: notificationID,
      expiresAtSeconds: nowSeconds + lifetimeSeconds)
    return "\(baseURL)/u/\(LinkWriter(keys).token(link))"
  }
}

import Gate

/// Keys and an address for links, made up.
public enum SignedLinks {
  public static let settings = LinkSettings(
    keys: LinkKeys(
      secrets: [7: (0..<LinkKeys.secretBytes).map { UInt8($0) }], signingID: 7),
    baseURL: "https://preferences.example.com", lifetimeSeconds: 180 * 86_400)
}

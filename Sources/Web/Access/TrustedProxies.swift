/// The proxies whose word about a client's address is taken. `X-Forwarded-For` is a header that
/// anybody can write: believed from everybody, each guess at a token would come from an address of
/// its own; believed from nobody, all visitors behind a proxy share the proxy's rate.
public struct TrustedProxies: Sendable, Equatable {
  /// Addresses that begin with the same bits.
  private struct Network: Sendable, Equatable {
    var isV6: Bool
    var bits: UInt128
    var length: Int

    func contains(_ address: (isV6: Bool, bits: UInt128)) -> Bool {
      address.isV6 == isV6 && (address.bits ^ bits) >> (128 - length) == 0
    }
  }

  private var networks: [Network] = []
  public static let countMax = 256

  /// None: whoever connects is the client.
  public init() {}

  /// Reads numeric addresses and networks, `127.0.0.1, 10.0.0.0/8, 2001:db8::/32`; nothing for none.
  /// Nil for anything else, a network with bits behind its length too, which somebody mistyped.
  public init?(_ text: String) {
    if text.allSatisfy({ $0 == " " }) { return }
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let network = Self.network(ASCII.trimmed(part)) else { return nil }
      networks.append(network)
    }
    guard networks.count <= Self.countMax else { return nil }
  }

  private static func network(_ text: Substring) -> Network? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = ListenAddress.client(String(parts[0])).flatMap(Self.bits) else {
      return nil
    }
    let width = address.isV6 ? 128 : 32
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(parts[1]),
        number <= width, address.bits << number == 0
      else { return nil }
      length = number
    }
    return Network(isV6: address.isV6, bits: address.bits, length: length)
  }

  /// From the top of the 128 on, whichever family.
  private static func bits(_ address: ClientAddress) -> (isV6: Bool, bits: UInt128)? {
    switch address {
    case .v4(let number): (false, UInt128(number) << 96)
    case .v6(let high, let low): (true, UInt128(high) << 64 | UInt128(low))
    case .unknown: nil
    }
  }

  func contains(_ address: ClientAddress) -> Bool {
    guard let bits = Self.bits(address) else { return false }
    return networks.contains { $0.contains(bits) }
  }

  /// Who sent a request: of the addresses that it was passed on for, the last one that is no proxy of
  /// ours. What stands before it was written by the client, or by whoever it likes.
  /// - Parameters:
  ///   - peer: at the other end of the connection.
  ///   - forwarded: every `X-Forwarded-For`, in the order they came.
  func client(peer: ClientAddress, forwarded: [String]) -> ClientAddress {
    var client = peer
    for list in forwarded.reversed() {
      for hop in list.split(separator: ",", omittingEmptySubsequences: false).reversed() {
        // What cannot be read is not guessed at: it counts as whoever passed it on.
        guard contains(client), let address = Self.hop(ASCII.trimmed(hop)) else { return client }
        client = address
      }
    }
    return client
  }

  /// Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private static func hop(_ text: Substring) -> ClientAddress? {
    let text = String(text)
    if let address = ListenAddress.client(text) { return address }
    guard !text.hasPrefix(":"), let both = ListenAddress(text) else { return nil }
    return ListenAddress.client(both.host)
  }
}

import Synchronization
import Telemetry

/// Lets requests in: who bears a token that is known, and does not come too often.
public final class Gatekeeper: Sendable {
  public struct Limits: Sendable {
    /// Of one token.
    public var perToken = RequestRate(perSecond: 1_000, burst: 2_000)
    /// Of one address (of IPv6: of one /64), for requests without a token that is known.
    public var perAddress = RequestRate(perSecond: 10, burst: 50)
    /// Whose `X-Forwarded-For` says who the client is.
    public var trustedProxies = TrustedProxies()

    public init() {}
  }

  private let limits: Limits
  private let addresses = AddressBuckets()
  private let tokens: Mutex<TokenTable>
  private let untrusted = Mutex<ClientAddress?>(nil)
  private let nowNs: @Sendable () -> Int64

  public init(
    tokens: TokenTable, limits: Limits = Limits(),
    nowNs: @escaping @Sendable () -> Int64 = SystemTime.monotonicNs
  ) {
    self.tokens = Mutex(tokens)
    self.limits = limits
    self.nowNs = nowNs
  }

  /// From now on these tokens count.
  public func replace(_ table: TokenTable) {
    tokens.withLock { $0 = table.keepingRates(of: $0) }
  }

  /// Who it is, or why not: 401 without a token that is known, 429 where it comes too often.
  public func admit(_ request: HTTPRequest) throws(Problem) -> TokenTable.Entry {
    try admit(bearer(request), of: request)
  }

  /// The same for a token that came otherwise than in the header.
  func admit(_ token: String?, of request: HTTPRequest) throws(Problem) -> TokenTable.Entry {
    guard let entry = token.flatMap({ token in tokens.withLock { $0 }.entry(for: token) }) else {
      try admitUnknown(request)
      throw Problem(
        401, "unauthorized", "this needs a token that is known: Authorization: Bearer TOKEN",
        headers: [HTTPField("WWW-Authenticate", "Bearer realm=\"sendgate\"")])
    }
    try count(entry)
    return entry
  }

  /// Whoever was let in before comes again: nil where the token has been taken away since.
  func admitAgain(_ entry: TokenTable.Entry) throws(Problem) -> TokenTable.Entry? {
    guard let known = tokens.withLock({ $0 }).entries.first(where: { $0 == entry }) else {
      return nil
    }
    try count(known)
    return known
  }

  private func count(_ entry: TokenTable.Entry) throws(Problem) {
    if let waitNs = entry.bucket.take(limits.perToken, nowNs: nowNs()) {
      throw Self.tooMany(waitNs, "this token")
    }
  }

  /// For what needs no token: 429 where its address comes too often.
  public func admitUnknown(_ request: HTTPRequest) throws(Problem) {
    let bucket = addresses[client(of: request)]
    if let waitNs = bucket.take(limits.perAddress, nowNs: nowNs()) {
      throw Self.tooMany(waitNs, "this address without a token that is known")
    }
  }

  private static func tooMany(_ waitNs: Int64, _ whose: String) -> Problem {
    let seconds = (waitNs + 999_999_999) / 1_000_000_000
    return Problem(
      429, "too_many_requests", "too many requests of \(whose)",
      headers: [HTTPField("Retry-After", "\(seconds)")])
  }

  /// Two headers are none: which of the two was meant is not ours to choose.
  private func bearer(_ request: HTTPRequest) -> String? {
    let values = request.headers("Authorization")
    guard values.count == 1 else { return nil }
    let parts = values[0].split(separator: " ", maxSplits: 1)
    guard parts.count == 2, ASCII.equal(String(parts[0]), "Bearer") else { return nil }
    return String(ASCII.trimmed(parts[1]))
  }

  private func client(of request: HTTPRequest) -> ClientAddress {
    let forwarded = request.headers("X-Forwarded-For")
    guard !forwarded.isEmpty else { return request.client }
    guard limits.trustedProxies.contains(request.client) else {
      untrusted.withLock { $0 = request.client }
      return request.client
    }
    return limits.trustedProxies.client(peer: request.client, forwarded: forwarded)
  }

  /// Who last sent an `X-Forwarded-For` that was not believed: a proxy that nobody named, whose
  /// visitors all share one rate, or a client that makes things up. Nil where nobody did.
  public var untrustedForwarder: ClientAddress? { untrusted.withLock { $0 } }
}

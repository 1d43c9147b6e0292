import CCrypto
import Synchronization

/// Who is signed in to the console, in memory alone: a restart signs everybody out.
///
/// What the browser holds is random and says nothing of the token. It is kept under its hash, so that
/// how long a look-up takes says nothing of the ids there are.
final class ConsoleSessions: Sendable {
  /// Without a request for so long, and in any case after so long, the session is over.
  static let idleMsMax: Int64 = 30 * 60_000
  static let lifetimeMsMax: Int64 = 10 * 3_600_000
  /// Of more, the one longest without a request makes way.
  static let countMax = 1_000
  private static let idBytes = 32

  private struct Session {
    var bearer: TokenTable.Entry
    var begunMs: Int64
    var seenMs: Int64

    func isOver(_ nowMs: Int64) -> Bool {
      nowMs - seenMs >= ConsoleSessions.idleMsMax
        || nowMs - begunMs >= ConsoleSessions.lifetimeMsMax
    }
  }

  private let sessions = Mutex<[[UInt8]: Session]>([:])

  /// The id that the browser is to send with each request.
  func begin(_ bearer: TokenTable.Entry, nowMs: Int64) -> String {
    var bytes = [UInt8](repeating: 0, count: Self.idBytes)
    guard cc_random(&bytes, bytes.count) == 0 else {
      preconditionFailure("the system gives no random bytes")
    }
    let id = String(unsafeUninitializedCapacity: (4 * bytes.count + 2) / 3) {
      cc_base64url(bytes, bytes.count, $0.baseAddress)
    }
    sessions.withLock { sessions in
      sessions = sessions.filter { !$0.value.isOver(nowMs) }
      while sessions.count >= Self.countMax,
        let oldest = sessions.min(by: { $0.value.seenMs < $1.value.seenMs })
      {
        sessions[oldest.key] = nil
      }
      sessions[AccessToken.digest(id)] = Session(bearer: bearer, begunMs: nowMs, seenMs: nowMs)
    }
    return id
  }

  /// Whose session it is; nil where there is none, or no longer.
  func bearer(_ id: String, nowMs: Int64) -> TokenTable.Entry? {
    sessions.withLock { sessions in
      let key = AccessToken.digest(id)
      guard var session = sessions[key] else { return nil }
      guard !session.isOver(nowMs) else {
        sessions[key] = nil
        return nil
      }
      session.seenMs = nowMs
      sessions[key] = session
      return session.bearer
    }
  }

  func end(_ id: String) {
    sessions.withLock { $0[AccessToken.digest(id)] = nil }
  }
}

/// The cookie that carries a session's id.
struct ConsoleCookie: Sendable {
  static let name = "sendgate_console"
  /// The connection to the browser is TLS, here or at the proxy.
  var isSecure: Bool

  /// The one that a request carries; two are none.
  static func id(in request: HTTPRequest) -> String? {
    let found = request.headers("Cookie").flatMap { $0.split(separator: ";") }
      .map { ASCII.trimmed($0) }.filter { $0.hasPrefix("\(name)=") }
    guard found.count == 1 else { return nil }
    return String(found[0].dropFirst(name.count + 1))
  }

  func set(_ id: String) -> HTTPField { field("\(Self.name)=\(id)") }

  /// Takes it away.
  func clear() -> HTTPField { field("\(Self.name)=; Max-Age=0") }

  /// Strict: no page of anybody else's makes a browser send it along, not even by a link.
  private func field(_ value: String) -> HTTPField {
    HTTPField(
      "Set-Cookie",
      "\(value); Path=/console; HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")")
  }
}

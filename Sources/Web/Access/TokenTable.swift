import Gate
import Preferences

/// Who may come in, by the hashes of their tokens.
///
/// The file has a token a line: a name for people, a role, and the SHA-256 of the token in
/// hexadecimal digits, with blanks between; `#` begins a comment.
public struct TokenTable: Sendable {
  public struct Entry: Sendable, Equatable {
    public let id: String
    public let role: Role
    let digest: [UInt8]
    let bucket: RequestBucket

    public static func == (a: Entry, b: Entry) -> Bool {
      a.id == b.id && a.role == b.role && a.digest == b.digest
    }
  }

  public struct Fault: Error, Equatable, CustomStringConvertible {
    /// By line; a hash is never quoted.
    public let description: String
  }

  public static let entriesMax = 1_000
  static let idBytesMax = 64

  public private(set) var entries: [Entry] = []

  public init() {}

  /// Reads a file's text; tells everything that is wrong with it at once.
  public init(parsing text: String) throws(Fault) {
    var problems: [String] = []
    for (i, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      func report(_ problem: String) { problems.append("line \(i + 1): \(problem)") }
      guard words.count == 3 else {
        report("wants a name, a role and a hash")
        continue
      }
      guard Self.isID(words[0]) else {
        report("the name is not 1 to \(Self.idBytesMax) letters, digits, '.', '_' or '-'")
        continue
      }
      guard let role = Role(rawValue: String(words[1])) else {
        report("the role is none of \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        continue
      }
      guard words[2].utf8.count == 64, let digest = Hex.bytes(words[2]) else {
        report("the hash is not 64 hexadecimal digits")
        continue
      }
      if entries.contains(where: { $0.id == words[0] }) {
        report("there is a token of this name already")
      } else if entries.contains(where: { $0.digest == digest }) {
        report("this token is there already under another name")
      }
      entries.append(
        Entry(id: String(words[0]), role: role, digest: digest, bucket: RequestBucket()))
    }
    if entries.count > Self.entriesMax { problems.append("more than \(Self.entriesMax) tokens") }
    guard problems.isEmpty else { throw Fault(description: problems.joined(separator: "; ")) }
  }

  /// The line of a token, as the file wants it.
  public static func line(id: String, role: Role, token: String) -> String {
    "\(id) \(role.rawValue) \(Hex.text(AccessToken.digest(token)))"
  }

  public static func isID(_ text: some StringProtocol) -> Bool {
    (1...idBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }

  /// Whose token it is. Every entry is compared in full, so that the time says nothing of which one
  /// was nearly right.
  public func entry(for token: String) -> Entry? {
    let digest = AccessToken.digest(token)
    var found: Entry?
    for entry in entries where Self.equal(entry.digest, digest) { found = entry }
    return found
  }

  /// Equal length and bytes, in a time that depends on neither.
  static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for i in a.indices { difference |= a[i] ^ b[i] }
    return difference == 0
  }

  /// Those that were there before keep what they have used of their rate: reading the file again
  /// must not refill it.
  public func keepingRates(of earlier: TokenTable) -> TokenTable {
    var table = self
    table.entries = entries.map { entry in
      guard let known = earlier.entries.first(where: { $0 == entry }) else { return entry }
      return known
    }
    return table
  }
}

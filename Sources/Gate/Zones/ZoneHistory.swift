/// One zone as read from its file: what was, by a table, and what will be, by a rule.
/// Made while loading; a `ZoneTable` holds the same in packed form.
public struct ZoneHistory: Sendable, Equatable {
  /// Instants (seconds since 1970) at which the offset changes, ascending.
  let transitions: [Int64]
  /// Seconds east of UTC: `offsets[0]` before the first transition, `offsets[i + 1]` from
  /// `transitions[i]` on. One more than there are transitions.
  let offsets: [Int32]
  /// From here on the rule holds. Not always the last transition: a file also lists instants at
  /// which only the abbreviation changes, and the last of those may come later.
  let ruleFrom: Int64
  /// Nil: the last offset for ever.
  let rule: FooterRule?
}

/// A whole tz database, read and checked, on its way to `ZonePublisher.publish`.
public struct ZoneDatabase: Sendable {
  /// Such as `2026f`; `unknown` where the database does not say.
  public let version: String
  private(set) var histories: [ZoneHistory] = []
  private(set) var names: [(name: [UInt8], history: Int)] = []

  /// - Parameter version: anything that is not `[A-Za-z0-9._+-]{1,32}` becomes `unknown`: it is
  ///   written into every output record.
  public init(version: String) {
    let plain =
      (1...32).contains(version.utf8.count)
      && version.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "+"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
    self.version = plain ? version : "unknown"
  }

  public var nameCount: Int { names.count }

  /// The number to give `add(name:history:)`; links give the same one several names.
  public mutating func add(_ history: ZoneHistory) -> Int {
    histories.append(history)
    return histories.count - 1
  }

  /// False where the name is none that a zone can have (see `ZoneName.isWellFormed`).
  @discardableResult
  public mutating func add(name: String, history: Int) -> Bool {
    precondition(histories.indices.contains(history), "no history \(history)")
    let bytes = Array(name.utf8)
    guard bytes.withUnsafeBytes({ ZoneName.isWellFormed($0) }) else { return false }
    names.append((bytes, history))
    return true
  }
}

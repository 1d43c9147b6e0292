/// What a database could not do: what was being done, where, why, and what to do about it.
public struct SQLError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: String, Sendable, CaseIterable {
    /// Somebody else held the write lock for longer than the patience of the settings.
    case busy
    case diskFull
    case readOnly
    case cannotOpen
    /// Not a database, one of another application, or damaged.
    case notOurs
    case inputOutput
    /// A rule of the schema. The store never writes what it refuses, so this is a defect.
    case constraint
    case tooBig
    case noMemory
    case connectionLost
    /// A server that did not answer in the time of the settings.
    case tooSlow
    case other
  }

  public let kind: Kind
  /// In words: `commit`, or the statement's own text.
  public let operation: String
  /// The file, or the server and the database's name; never a password.
  public let place: String
  /// The library's own name of it, `SQLITE_FULL`; PostgreSQL's five letters.
  public let code: String
  public let reason: String

  public init(_ kind: Kind, operation: String, place: String, code: String, reason: String) {
    self.kind = kind
    self.operation = operation
    self.place = place
    self.code = code
    self.reason = reason
  }

  /// Whether the next statement would meet the same: then nothing of a group is tried again.
  public var concernsEverything: Bool {
    switch kind {
    case .constraint, .tooBig, .other: false
    default: true
    }
  }

  public var description: String {
    "\(place): \(operation): \(code): \(reason); \(remedy)"
  }

  /// What to do.
  public var remedy: String {
    switch kind {
    case .busy: "another process holds the write lock: end it, or wait and try again"
    case .diskFull: "free space there; nothing of this transaction was kept"
    case .readOnly:
      "let the service's user write the file, its -wal, its -shm and their folder; of a server, all of"
        + " the schema's tables"
    case .cannotOpen:
      "make the folder, let the service's user write in it, or name another place; of a server, set it"
        + " right or name another"
    case .notOurs: "name the service's own database, or restore one from a backup"
    case .inputOutput: "look at the system's log for the disk; then check the file's integrity"
    case .constraint: "this is a defect: report it with this message"
    case .tooBig: "send less at once"
    case .noMemory: "give the process more memory"
    case .connectionLost:
      "look whether the server runs, can be reached and lets this role into the database; the next"
        + " request tries again"
    case .tooSlow: "look at the server's load and disk, or raise serve.database.timeout.ms"
    case .other: "this is a defect or a damaged database: report it with this message"
    }
  }
}

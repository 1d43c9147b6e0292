/// Where preferences are kept.
public enum PreferenceDatabase: Sendable, Equatable {
  /// A file; made where there is none, its folder is not. On a disk of this machine: SQLite's log
  /// needs memory that processes share.
  case sqlite(path: String)
  /// A server's, the tables in the schema that its `search_path` names first. The database must be there.
  case postgres(PostgresParameters)

  /// For messages and logs.
  public var place: String {
    switch self {
    case .sqlite(let path): path
    case .postgres(let parameters): parameters.place
    }
  }

  /// Whether a lock can end before whoever took it knows.
  var canLoseLocks: Bool {
    switch self {
    case .sqlite: false
    case .postgres: true
    }
  }

  enum Role: Sendable { case writer, reader }

  func connect(_ role: Role, busyMsMax: Int32) throws(SQLError) -> any SQLConnection {
    switch self {
    case .sqlite(let path):
      return try SQLiteConnection(
        path: path, access: role == .writer ? .readWrite : .readOnly, busyMsMax: busyMsMax)
    case .postgres(let parameters):
      return try Self.connect(parameters, role, busyMsMax)
    }
  }

  private static func connect(
    _ parameters: PostgresParameters, _ role: Role, _ busyMsMax: Int32
  ) throws(SQLError) -> PostgresConnection {
    let access: PostgresConnection.Access = role == .writer ? .readWrite : .readOnly
    let made = try PostgresConnection(parameters, access: access, busyMsMax: busyMsMax)
    guard role == .writer else { return made }
    do throws(SQLError) {
      try made.checkOwner()
    } catch {
      made.close()
      throw error
    }
    return made
  }
}

/// Where preferences are kept.
public enum PreferenceDatabase: Sendable, Equatable {
  /// A file; made where there is none, its folder is not. On a disk of this machine: SQLite's log
  /// needs memory that processes share.
  case sqlite(path: String)

  /// For messages and logs.
  public var place: String {
    switch self {
    case .sqlite(let path): path
    }
  }

  enum Role: Sendable { case writer, reader }

  func connect(_ role: Role, busyMsMax: Int32) throws(SQLError) -> any SQLConnection {
    switch self {
    case .sqlite(let path):
      try SQLiteConnection(
        path: path, access: role == .writer ? .readWrite : .readOnly, busyMsMax: busyMsMax)
    }
  }
}

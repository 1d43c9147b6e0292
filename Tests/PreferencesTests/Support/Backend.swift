import TestSupport

@testable import Preferences

/// What the store can be kept in. What holds of it holds on each.
enum Backend: CaseIterable, Sendable {
  case sqlite, postgres
}

/// A database of one test's own, empty at first.
final class TestDatabase {
  let folder = TemporaryFolder()
  let database: PreferenceDatabase
  /// As the command line of a helper process takes it.
  let text: String

  init(_ backend: Backend) throws {
    switch backend {
    case .sqlite:
      text = folder.file("preferences.db")
      database = .sqlite(path: text)
    case .postgres:
      text = try PostgresServer.shared.makeSchema()
      database = .postgres(try PostgresParameters(text))
    }
  }

  /// Whatever tables are there.
  func connect(
    _ role: PreferenceDatabase.Role = .writer, busyMsMax: Int32 = 0
  ) throws -> any SQLConnection {
    switch database {
    case .sqlite: try database.connect(role, busyMsMax: busyMsMax)
    case .postgres(let parameters):
      try PostgresConnection(
        parameters, access: role == .writer ? .readWrite : .readOnly, busyMsMax: busyMsMax)
    }
  }
}

import Testing

@testable import Preferences

@Suite struct PostgresParametersTests {
  @Test(arguments: [
    (
      "postgresql://me:hunter2@db.example:5433/prefs?sslmode=verify-full", "db.example:5433",
      "prefs"
    ),
    ("postgres://db.example/prefs?password=hunter2", "db.example", "prefs"),
    ("postgres://me:hunter2@a.example,b.example/prefs", "a.example,b.example", "prefs"),
    ("host=/run/postgresql dbname=prefs password='hunter2 x'", "/run/postgresql", "prefs"),
    ("dbname=prefs password=hunter2", "local", "prefs"),
  ])
  func placesAreNamedWithoutSecrets(text: String, server: String, database: String) throws {
    let parameters = try PostgresParameters(text)
    #expect(parameters.place == "postgresql \(server), database \(database)")
    #expect("\(parameters)" == parameters.place)
    let database = PreferenceDatabase.postgres(parameters)
    for shown in ["\(database)", String(describing: database), database.place] {
      #expect(!shown.contains("hunter2"), "\(shown)")
    }
    #expect(
      parameters.values["password"]?.hasPrefix("hunter2") == true || !text.contains("hunter2"))
  }

  @Test func whatIsNotSetIsTheStoresOwn() throws {
    let plain = try PostgresParameters("dbname=prefs").values
    #expect(plain["target_session_attrs"] == "read-write")
    #expect(plain["client_encoding"] == "UTF8")
    #expect(plain["application_name"] == "sendgate")
    let own = try PostgresParameters("dbname=p target_session_attrs=any application_name=a").values
    #expect(own["target_session_attrs"] == "any")
    #expect(own["application_name"] == "a")
  }

  /// No part of the text is in the answer: it may hold a password.
  @Test(arguments: [
    ("/var/lib/hunter2.db", "cannot be read: wants libpq's connection parameters"),
    ("postgresql://me:hunter2@[::1/prefs", "cannot be read"),
    ("dbname=prefs hunter2", "cannot be read"),
    ("dbname=prefs hunter2=x", "cannot be read"),
    ("postgresql://me:hunter2@db.example", "names no database"),
    ("dbname=prefs connect_timeout=3", "may not set connect_timeout: serve.database.timeout.ms"),
    ("dbname=prefs client_encoding=LATIN1", "may not set client_encoding"),
    ("dbname=prefs replication=true", "may not set replication"),
  ])
  func whatIsWrongIsNamed(text: String, complaint: String) {
    let fault = #expect(throws: PostgresParameters.Fault.self) { _ = try PostgresParameters(text) }
    #expect("\(fault!)".contains(complaint), "\(fault!)")
    #expect(!"\(fault!)".contains("hunter2"))
  }
}

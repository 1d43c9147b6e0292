import CPostgres

/// Where a PostgreSQL database is and how to come in, as libpq takes it. May hold a password: only
/// `place` is for messages.
public struct PostgresParameters: Sendable, Equatable, CustomStringConvertible {
  /// Why a text is none; never a part of the text, which may hold a password.
  public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
  }

  /// Host, port and database's name.
  public let place: String
  /// How long connecting, or one statement, may take, milliseconds.
  public let answerMsMax: Int32
  let values: [String: String]
  public var description: String { place }

  /// How long a statement may take where nobody says otherwise, milliseconds.
  public static let answerMsMaxDefault: Int32 = 10_000

  /// - Parameter text: `postgresql://user@host/database` or `host=… dbname=… user=…`, with any of
  ///   libpq's parameters but those that the store itself depends on.
  public init(_ text: String, answerMsMax: Int32 = answerMsMaxDefault) throws(Fault) {
    let given = try Self.parse(text)
    for (name, why) in Self.refused where given[name] != nil {
      throw Fault(description: "may not set \(name): \(why)")
    }
    // Without it the server takes the role's name, and a service that was meant for another database
    // would fill that one.
    guard given["dbname"] != nil || given["service"] != nil else {
      throw Fault(description: "names no database: wants \(Self.wanted)")
    }
    var values = given
    // A server that only reads, as a standby, is of no use; of several hosts the one that writes is meant.
    if values["target_session_attrs"] == nil { values["target_session_attrs"] = "read-write" }
    if values["application_name"] == nil { values["application_name"] = "sendgate" }
    values["client_encoding"] = "UTF8"
    self.values = values
    self.answerMsMax = answerMsMax
    place = Self.place(given)
  }

  private static let wanted =
    "libpq's connection parameters, as postgresql://sendgate@db.example/preferences"

  private static let refused: [(name: String, why: String)] = [
    ("connect_timeout", "serve.database.timeout.ms is what bounds it"),
    ("client_encoding", "ids are UTF-8"),
    ("replication", "the store runs statements"),
  ]

  private static func parse(_ text: String) throws(Fault) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &message) else {
      // The message quotes the text.
      PQfreemem(message)
      throw Fault(description: "cannot be read: wants \(wanted)")
    }
    defer { PQconninfoFree(options) }
    var given: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      // What is set to nothing is what libpq takes from elsewhere, as from PGPASSFILE.
      if let value = option.pointee.val, value.pointee != 0 {
        given[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return given
  }

  private static func place(_ given: [String: String]) -> String {
    let server = given["service"].map { "service \($0)" }
    let host = given["host"] ?? given["hostaddr"] ?? "local"
    let port = given["port"].map { ":\($0)" } ?? ""
    return "postgresql \(server ?? host + port), database \(given["dbname"] ?? "of the service")"
  }
}

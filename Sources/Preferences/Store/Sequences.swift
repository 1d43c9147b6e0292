/// Numbers that are given once. Kept in a table and not by the database's own means: those of
/// PostgreSQL are given outside of transactions, so that a lower one may appear behind a higher one,
/// and whoever reads in order would pass it by.
struct Sequences {
  enum Name: String {
    case userKey = "user_key"
    case audit
    case outbox
  }

  let connection: any SQLConnection

  func next(_ name: Name) throws(SQLError) -> Int64 { try next(name, count: 1) }

  /// The first of `count` numbers in a row.
  func next(_ name: Name, count: Int) throws(SQLError) -> Int64 {
    let last = try connection.first(
      "UPDATE sequences SET value = value + $2 WHERE name = $1 RETURNING value",
      [.text(name.rawValue), .integer(Int64(count))]
    ) { $0.integer(0) }
    guard let last else {
      throw SQLError(
        .notOurs, operation: "number a row", place: connection.place, code: name.rawValue,
        reason: "the table of sequences lacks it")
    }
    return last - Int64(count) + 1
  }
}

/// One value of a statement's parameters.
enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
  init(_ value: [UInt8]?) { self = value.map(SQLValue.bytes) ?? .null }
  init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(stringLiteral value: String) { self = .text(value) }
}

/// A row while it is looked at; gone when the closure that was given it returns. Columns count from 0.
/// Asking for another type than the column's is a programmer error.
protocol SQLRow {
  func optionalInteger(_ column: Int) -> Int64?
  func optionalText(_ column: Int) -> String?
  func optionalBytes(_ column: Int) -> [UInt8]?
}

extension SQLRow {
  /// Of a column that the schema declares NOT NULL.
  func integer(_ column: Int) -> Int64 { optionalInteger(column)! }
  func text(_ column: Int) -> String { optionalText(column)! }
  func bytes(_ column: Int) -> [UInt8] { optionalBytes(column)! }
  func flag(_ column: Int) -> Bool { integer(column) != 0 }
}

/// One value of a statement's parameters.
package enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  package init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  package init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
  package init(_ value: [UInt8]?) { self = value.map(SQLValue.bytes) ?? .null }
  package init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }
}

/// A row while it is looked at; gone when the closure that was given it returns. Columns count from 0.
/// Asking for another type than the column's is a programmer error.
package protocol SQLRow {
  func optionalInteger(_ column: Int) -> Int64?
  func optionalText(_ column: Int) -> String?
  func optionalBytes(_ column: Int) -> [UInt8]?
}

extension SQLRow {
  /// Of a column that the schema declares NOT NULL.
  package func integer(_ column: Int) -> Int64 { optionalInteger(column)! }
  package func text(_ column: Int) -> String { optionalText(column)! }
  package func bytes(_ column: Int) -> [UInt8] { optionalBytes(column)! }
  package func flag(_ column: Int) -> Bool { integer(column) != 0 }
}

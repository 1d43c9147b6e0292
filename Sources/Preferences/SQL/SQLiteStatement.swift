import CSQLite

/// A prepared statement, and the row it stands on.
final class SQLiteStatement: SQLRow {
  private let raw: OpaquePointer
  /// The parameter `$n` of each place: SQLite counts parameters in the order it meets them.
  private let numbers: [Int]

  init(_ raw: OpaquePointer) {
    self.raw = raw
    let count = sqlite3_bind_parameter_count(raw)
    numbers = (0..<count).map { index in
      guard let name = sqlite3_bind_parameter_name(raw, index + 1),
        let number = Int(String(cString: name).dropFirst())
      else { preconditionFailure("parameters are written $1, $2 …") }
      return number
    }
  }

  func bind(_ values: [SQLValue]) -> Int32 {
    precondition(numbers.allSatisfy { $0 <= values.count }, "a parameter has no value")
    for (index, number) in numbers.enumerated() {
      let code = bind(values[number - 1], at: Int32(index + 1))
      if code != SQLITE_OK { return code }
    }
    return SQLITE_OK
  }

  private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(raw, index)
    case .integer(let integer): sqlite3_bind_int64(raw, index, integer)
    case .text(var text):
      text.withUTF8 { csqlite_bind_text(raw, index, $0.baseAddress, $0.count) }
    case .bytes(let bytes):
      bytes.withUnsafeBytes { csqlite_bind_blob(raw, index, $0.baseAddress, $0.count) }
    }
  }

  func step() -> Int32 { sqlite3_step(raw) }

  /// Also lets go of the values: an erased user's must not stay in memory until the next use.
  func reset() {
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
  }

  func finalize() { sqlite3_finalize(raw) }

  func optionalInteger(_ column: Int) -> Int64? {
    guard isPresent(column, SQLITE_INTEGER) else { return nil }
    return sqlite3_column_int64(raw, Int32(column))
  }

  func optionalText(_ column: Int) -> String? {
    guard isPresent(column, SQLITE_TEXT) else { return nil }
    let count = Int(sqlite3_column_bytes(raw, Int32(column)))
    return String(
      decoding: UnsafeBufferPointer(start: sqlite3_column_text(raw, Int32(column)), count: count),
      as: UTF8.self)
  }

  func optionalBytes(_ column: Int) -> [UInt8]? {
    guard isPresent(column, SQLITE_BLOB) else { return nil }
    let count = Int(sqlite3_column_bytes(raw, Int32(column)))
    return Array(
      UnsafeRawBufferPointer(start: sqlite3_column_blob(raw, Int32(column)), count: count))
  }

  private func isPresent(_ column: Int, _ wanted: Int32) -> Bool {
    let type = sqlite3_column_type(raw, Int32(column))
    if type == SQLITE_NULL { return false }
    precondition(type == wanted, "column \(column) is of another type")
    return true
  }
}

import CPostgres
import Gate

/// A statement's parameters as libpq takes them: numbers as digits, text and bytes as they are.
struct PostgresValues {
  private var bytes: [UInt8] = []
  private var places: [(start: Int, count: Int, isBinary: Bool)?] = []

  init(_ values: [SQLValue]) {
    for value in values {
      let start = bytes.count
      var isBinary = true
      switch value {
      case .null:
        places.append(nil)
        continue
      case .integer(let integer):
        // The type is the column's, and its width is not known here.
        bytes += "\(integer)".utf8
        isBinary = false
      // Not as C's text, which would end at the first NUL: the server refuses one by name.
      case .text(let text): bytes += text.utf8
      case .bytes(let own): bytes += own
      }
      places.append((start, bytes.count - start, isBinary))
      bytes.append(0)
    }
  }

  /// For the length of the call.
  func withPointers<R>(
    _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> R
  ) -> R {
    bytes.withUnsafeBytes { buffer in
      let base = buffer.bindMemory(to: CChar.self).baseAddress
      return body(
        Int32(places.count), places.map { place in place.map { base! + $0.start } },
        places.map { Int32($0?.count ?? 0) }, places.map { $0?.isBinary == true ? 1 : 0 })
    }
  }
}

/// A row of an answer, which comes as text.
struct PostgresRow: SQLRow {
  let result: OpaquePointer
  let row: Int32

  /// The server's numbers of its types.
  private enum Types {
    static let integers: [Oid] = [20, 21, 23]
    static let texts: [Oid] = [25, 1043, 19]
    static let bytes: [Oid] = [17]
  }

  private func value(_ column: Int, _ wanted: [Oid]) -> UnsafeBufferPointer<UInt8>? {
    let column = Int32(column)
    precondition(
      wanted.contains(PQftype(result, column)), "column \(column) is of another type")
    guard PQgetisnull(result, row, column) == 0 else { return nil }
    let count = Int(PQgetlength(result, row, column))
    return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count)
      .bindMemory(to: UInt8.self)
  }

  func optionalInteger(_ column: Int) -> Int64? {
    value(column, Types.integers).map { Int64(String(decoding: $0, as: UTF8.self))! }
  }

  func optionalText(_ column: Int) -> String? {
    value(column, Types.texts).map { String(decoding: $0, as: UTF8.self) }
  }

  /// `\x` and two digits a byte.
  func optionalBytes(_ column: Int) -> [UInt8]? {
    value(column, Types.bytes).map { text in
      precondition(text.starts(with: [0x5C, 0x78]), "bytea_output is not hex")
      return Hex.bytes(String(decoding: text.dropFirst(2), as: UTF8.self))!
    }
  }
}

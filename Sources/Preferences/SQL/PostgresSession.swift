import CPostgres
import Telemetry

/// One session with a server, from its connecting to its end. Nothing here waits without a bound:
/// libpq's own waiting calls would wait for ever on a server that is frozen, or on a network that
/// swallows what is sent.
final class PostgresSession {
  private let raw: OpaquePointer
  private let place: String
  private let answerMsMax: Int32
  /// Names under which the server has prepared statements, by their text's address.
  private var statements: [UInt: String] = [:]
  /// Nothing more can be asked: what was asked last may still be answered, by then to the wrong question.
  private var isSpoilt = false

  init(_ parameters: PostgresParameters) throws(SQLError) {
    place = parameters.place
    answerMsMax = parameters.answerMsMax
    let pairs = parameters.values.sorted { $0.key < $1.key }
    guard let made = Self.start(pairs.map(\.key), pairs.map(\.value)) else {
      throw SQLError(
        .noMemory, operation: "connect", place: place, code: "", reason: "no memory for it")
    }
    raw = made
    do throws(SQLError) {
      try connect()
    } catch {
      PQfinish(raw)
      throw error
    }
    // A notice ("relation exists, skipping") is for people at a terminal.
    PQsetNoticeReceiver(raw, { _, _ in }, nil)
    // Also ending must not wait for a peer that takes nothing.
    PQsetnonblocking(raw, 1)
  }

  /// The texts live as long as the call; libpq copies them.
  private static func start(_ names: [String], _ values: [String]) -> OpaquePointer? {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for text in names + values {
      starts.append(bytes.count)
      bytes += text.utf8CString
    }
    return bytes.withUnsafeBufferPointer { buffer in
      let texts: [UnsafePointer<CChar>?] = starts.map { buffer.baseAddress! + $0 }
      return PQconnectStartParams(
        texts[..<names.count] + [nil], texts[names.count...] + [nil], 0)
    }
  }

  private func connect() throws(SQLError) {
    let deadline = Deadline(ms: answerMsMax)
    var state = PGRES_POLLING_WRITING
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED, PQstatus(raw) != CONNECTION_BAD else {
        throw lost("connect")
      }
      try wait("connect", alsoWrite: state == PGRES_POLLING_WRITING, deadline)
      state = PQconnectPoll(raw)
    }
  }

  var isUsable: Bool { !isSpoilt && PQstatus(raw) == CONNECTION_OK }
  var isInTransaction: Bool { PQtransactionStatus(raw) != PQTRANS_IDLE }

  /// The server rolls back what was not committed.
  func end() { PQfinish(raw) }

  /// Runs a text of one statement or several, without parameters.
  func execute(_ sql: String) throws(SQLError) -> PostgresResult {
    try ask(sql) { PQsendQuery(raw, sql) }
  }

  /// Runs one statement, which the server knows from the second time on.
  func execute(_ sql: StaticString, _ values: [SQLValue]) throws(SQLError) -> PostgresResult {
    let name = try prepared(sql)
    return try ask("\(sql)") {
      PostgresValues(values).withPointers { count, pointers, lengths, formats in
        PQsendQueryPrepared(raw, name, count, pointers, lengths, formats, 0)
      }
    }
  }

  private func prepared(_ sql: StaticString) throws(SQLError) -> String {
    let address = UInt(bitPattern: sql.utf8Start)
    if let known = statements[address] { return known }
    let name = "s\(statements.count)"
    _ = try ask("\(sql)") { PQsendPrepare(raw, name, "\(sql)", 0, nil) }
    statements[address] = name
    return name
  }

  // MARK: Asking

  private func ask(_ operation: String, _ send: () -> Int32) throws(SQLError) -> PostgresResult {
    guard isUsable else { throw lost(operation) }
    let deadline = Deadline(ms: answerMsMax)
    guard send() == 1 else { throw lost(operation) }
    try flush(operation, deadline)
    return try answer(operation, deadline)
  }

  private func flush(_ operation: String, _ deadline: Deadline) throws(SQLError) {
    while true {
      switch PQflush(raw) {
      case 0: return
      case 1: try wait(operation, alsoWrite: true, deadline)
      default: throw lost(operation)
      }
      // The server may have to say something before it reads on.
      guard PQconsumeInput(raw) == 1 else { throw lost(operation) }
    }
  }

  /// The last answer, or the first that is an error: of several statements, those behind a failed one
  /// do not run.
  private func answer(_ operation: String, _ deadline: Deadline) throws(SQLError) -> PostgresResult
  {
    var last: PostgresResult?
    var failure: SQLError?
    while true {
      while PQisBusy(raw) == 1 {
        try wait(operation, alsoWrite: false, deadline)
        guard PQconsumeInput(raw) == 1 else { throw failure ?? lost(operation) }
      }
      guard let next = PQgetResult(raw) else { break }
      let result = PostgresResult(next)
      if result.isGood { last = result } else { failure = failure ?? error(result, operation) }
    }
    if let failure { throw failure }
    guard let last else { throw lost(operation) }
    return last
  }

  private func wait(
    _ operation: String, alsoWrite: Bool, _ deadline: Deadline
  ) throws(SQLError) {
    while true {
      let leftMs = deadline.leftMs
      let ready = leftMs == 0 ? 0 : cpostgres_wait(raw, alsoWrite ? 1 : 0, leftMs)
      if ready > 0 { return }
      if ready == 0 { throw tooSlow(operation) }
    }
  }

  // MARK: Errors

  private func error(_ result: PostgresResult, _ operation: String) -> SQLError {
    let isLost = PQstatus(raw) != CONNECTION_OK
    return SQLError(
      isLost ? .connectionLost : PostgresCodes.kind(of: result.state), operation: operation,
      place: place, code: result.state, reason: result.message)
  }

  private func lost(_ operation: String) -> SQLError {
    isSpoilt = true
    return SQLError(
      .connectionLost, operation: operation, place: place, code: "",
      reason: PostgresResult.line(PQerrorMessage(raw)))
  }

  private func tooSlow(_ operation: String) -> SQLError {
    isSpoilt = true
    return SQLError(
      .tooSlow, operation: operation, place: place, code: "",
      reason: "the server gave no answer within \(Deadline.ms(answerMsMax)) ms")
  }
}

/// What a server answered; let go of with its last user.
final class PostgresResult {
  let raw: OpaquePointer

  init(_ raw: OpaquePointer) { self.raw = raw }
  deinit { PQclear(raw) }

  var isGood: Bool {
    let status = PQresultStatus(raw)
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
  }

  /// What was done, as `COMMIT`.
  var command: String { Self.line(PQcmdStatus(raw)) }
  var changedCount: Int { Int(Self.line(PQcmdTuples(raw))) ?? 0 }
  var rowCount: Int32 { PQntuples(raw) }
  var state: String { String(cString: cpostgres_state(raw)) }
  var message: String { Self.line(PQresultErrorMessage(raw)) }

  /// libpq's messages end with a newline, and some have several lines.
  static func line(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "" }
    return String(cString: text).split(separator: "\n").joined(separator: "; ")
  }
}

/// An instant after which nothing is waited for.
private struct Deadline {
  private let atNs: Int64

  init(ms answerMsMax: Int32) {
    atNs = SystemTime.monotonicNs() + Self.ms(answerMsMax) * 1_000_000
  }

  /// A second more than the server has, so that it is the server that says what took too long.
  static func ms(_ answerMsMax: Int32) -> Int64 { Int64(answerMsMax) + 1_000 }

  /// 0: over.
  var leftMs: Int32 {
    Int32(clamping: max(0, (atNs - SystemTime.monotonicNs() + 999_999) / 1_000_000))
  }
}

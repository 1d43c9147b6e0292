import Gate
import Pipeline
import Synchronization
import Testing

@testable import Preferences

@Suite struct GroupWriterTests {
  private func makeWriter(
    _ database: TestDatabase, jobsMax: Int = 1000, groupJobsMax: Int = 64,
    onGroup: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws -> GroupWriter {
    let connection = try database.connect()
    try connection.runScript(
      "CREATE TABLE IF NOT EXISTS t (k BIGINT NOT NULL PRIMARY KEY) /*table*/;")
    return GroupWriter(
      connection: connection, jobsMax: jobsMax, groupJobsMax: groupJobsMax, onGroup: onGroup)
  }

  private func rows(_ database: TestDatabase) throws -> [Int64] {
    let reader = try database.connect(.reader)
    defer { reader.close() }
    return try reader.all("SELECT k FROM t ORDER BY k", []) { $0.integer(0) }
  }

  /// Everything that waits while the writer is busy is one commit; each is answered behind it.
  @Test(arguments: Backend.allCases)
  func whatWaitsSharesACommit(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let groups = Box<[Int]>([])
    let writer = try makeWriter(database) { jobs in groups.change { $0.append(jobs) } }
    let isHeld = Monitor(true)
    let answered = Monitor(0)
    writer.submit(
      .init(
        run: { _ in
          isHeld.wait { $0 ? nil : () }
          return {}
        }, fail: { Issue.record("\($0)") }))
    for key in 0..<50 {
      writer.submit(
        .init(
          run: { connection throws(SQLError) in
            try connection.run("INSERT INTO t (k) VALUES ($1)", [.integer(Int64(key))])
            return { answered.change { $0 += 1 } }
          }, fail: { Issue.record("\($0)") }))
    }
    isHeld.change { $0 = false }
    writer.close()
    #expect(answered.wait { $0 } == 50)
    #expect(try rows(database) == Array(0..<50))
    // The one that held may have taken some with it that were there by then.
    #expect(groups.value.count <= 3)
    #expect(groups.value.reduce(0, +) == 51)
  }

  @Test(arguments: Backend.allCases)
  func oneThatFailsDoesNotTakeTheOthersWithIt(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try makeWriter(database)
    let isHeld = Monitor(true)
    writer.submit(
      .init(
        run: { _ in
          isHeld.wait { $0 ? nil : () }
          return {}
        }, fail: { Issue.record("\($0)") }))
    let failures = Box<[Int64]>([])
    let successes = Box<[Int64]>([])
    for key: Int64 in [1, 2, 2, 3] {
      writer.submit(
        .init(
          run: { connection throws(SQLError) in
            try connection.run("INSERT INTO t (k) VALUES ($1)", [.integer(key)])
            return { successes.change { $0.append(key) } }
          },
          fail: { error in
            guard case .sql(let error) = error, error.kind == .constraint else {
              Issue.record("\(error)")
              return
            }
            failures.change { $0.append(key) }
          }))
    }
    isHeld.change { $0 = false }
    writer.close()
    #expect(try rows(database) == [1, 2, 3])
    #expect(successes.value == [1, 2, 3])
    #expect(failures.value == [2])
  }

  @Test(arguments: Backend.allCases)
  func moreThanMayWaitIsRefused(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try makeWriter(database, jobsMax: 2)
    let isHeld = Monitor(true)
    let isRunning = Monitor(false)
    writer.submit(
      .init(
        run: { _ in
          isRunning.change { $0 = true }
          isHeld.wait { $0 ? nil : () }
          return {}
        }, fail: { Issue.record("\($0)") }))
    isRunning.wait { $0 ? () : nil }
    let refusals = Box<[StoreError]>([])
    for _ in 0..<3 {
      writer.submit(
        .init(run: { _ in {} }, fail: { error in refusals.change { $0.append(error) } }))
    }
    #expect(refusals.value == [.overloaded(waiting: 2)])
    isHeld.change { $0 = false }
    writer.close()
    writer.submit(.init(run: { _ in {} }, fail: { error in refusals.change { $0.append(error) } }))
    #expect(refusals.value.last == .closed)
  }

  @Test(arguments: Backend.allCases)
  func upkeepIsOutsideAnyTransaction(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try makeWriter(database)
    // Inside one SQLite refuses it.
    #expect(
      try writer.perform(isAlone: true) { connection throws(SQLError) in
        try connection.purgeErased()
      })
    writer.close()
  }

  /// Another process holds the write lock for too long: everybody is told, nobody crashes.
  @Test(arguments: Backend.allCases)
  func aLockedDatabaseIsToldToEverybody(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try makeWriter(database)
    let other = try database.connect()
    try other.begin(.write)
    let error = #expect(throws: StoreError.self) { try writer.perform { _ in } }
    guard case .sql(let sql)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(sql.kind == .busy)
    other.rollback()
    other.close()
    try writer.perform { _ in }
    writer.close()
  }
}

/// A value that threads change.
final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>
  init(_ value: Value) { content = Mutex(value) }
  var value: Value { content.withLock { $0 } }
  func change(_ body: (inout Value) -> Void) { content.withLock { body(&$0) } }
}

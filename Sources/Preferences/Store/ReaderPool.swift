/// Connections that read. Each is lent to one caller at a time; where all are lent, callers wait.
package final class ReaderPool: @unchecked Sendable {
  // Unchecked: a connection is in the list or with the one caller it was lent to.
  private struct Free {
    var connections: [any SQLConnection]
    var isClosed = false
  }

  private let free: Monitor<Free>
  private let count: Int

  package init(_ connections: [any SQLConnection]) {
    count = connections.count
    free = Monitor(Free(connections: connections))
  }

  /// Reads in one transaction: everything is as it was at one instant.
  package func read<R>(
    _ body: (any SQLConnection) throws(SQLError) -> R
  ) throws(StoreError) -> R {
    let lent: (any SQLConnection)? = free.wait { free -> (any SQLConnection)?? in
      if free.isClosed { return .some(nil) }
      return free.connections.popLast().map { .some($0) }
    }
    guard let connection = lent else { throw .closed }
    defer { free.change { $0.connections.append(connection) } }
    do throws(SQLError) {
      return try connection.transaction(.read) { () throws(SQLError) in try body(connection) }
    } catch {
      throw .sql(error)
    }
  }

  /// Waits for those that are lent.
  package func close() {
    free.change { $0.isClosed = true }
    let all: [any SQLConnection] = free.wait {
      $0.connections.count == count ? $0.connections : nil
    }
    for connection in all { connection.close() }
  }
}

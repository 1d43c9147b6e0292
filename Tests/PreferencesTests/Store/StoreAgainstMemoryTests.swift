import Gate
import Testing

@testable import Preferences

/// Random events through the tables and through dictionaries: answers, states, audits and what is to
/// be published are the same, also after the database was closed and opened again.
@Suite struct StoreAgainstMemoryTests {
  @Test(arguments: Backend.allCases, [1, 2, 3, 4, 5, 6] as [UInt64])
  func tablesKeepWhatTheMachineSays(on backend: Backend, seed: UInt64) throws {
    let world = try StoreWorld(backend)
    var memory = MemoryStore(world.machine)
    var source = EventSource(seed: seed)
    for count in 1...400 {
      world.nowMs = StoreWorld.startMs + Int64(source.number(60)) * 60_000
      let event = source.next()
      let wanted = memory.apply(event, nowMs: world.nowMs)
      let found = try world.service.apply(event)
      #expect(found == wanted, "\(backend), seed \(seed), event \(count): \(event)")
      if count % 100 == 0 {
        if count == 200 { try world.reopen() }
        try compare(world, memory, "\(backend), seed \(seed), after \(count)")
      }
    }
  }

  private func compare(_ world: StoreWorld, _ memory: MemoryStore, _ note: Comment) throws {
    for number in 0..<4 {
      let id = Identifier("user-\(number)")
      #expect(try world.service.user(id) == memory.users[id], note)
      let rows = try world.audit(id)
      #expect(
        rows.map { row in
          var row = row
          row.sequence = 0
          return row
        } == memory.audit[id] ?? [], note)
      #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.sequence < $1.sequence }, note)
    }
    for number in 0..<5 {
      let id = Identifier("device-\(number)")
      let found = try world.service.store.readers.read { connection throws(SQLError) in
        try UserReader(connection: connection).device(id)
      }
      #expect(found == memory.devices[id], note)
    }
    let outbox = try world.outbox()
    #expect(
      outbox.filter { $0.topic != .audit }
        .map { "\($0.topic.rawValue) \($0.key) \($0.value ?? "nil")" } == memory.published, note)
  }
}

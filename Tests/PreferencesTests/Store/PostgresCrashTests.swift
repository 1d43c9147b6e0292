import Gate
import Pipeline
import Testing

@testable import Preferences

/// The server is killed under a service that writes and reads, again and again: whoever was answered
/// keeps what was answered, whoever was not is told, and the same service goes on.
@Suite struct PostgresCrashTests {
  @Test func noAnsweredWriteIsLostWithTheServer() throws {
    let server = PostgresServer()
    defer { #expect(throws: Never.self) { try server.end() } }
    let service = try PreferenceService(
      database: .postgres(try PostgresParameters(try server.makeSchema())),
      machine: PreferenceMachine(policy: .builtIn, zones: FewZones()),
      links: SettingsLinks(androidPackage: "org.example.app")!)
    defer { service.close() }
    let threadCount = 4
    /// Of each thread the number of its last event that was answered, and how many were not.
    let answered = Monitor([Int](repeating: -1, count: threadCount))
    let failures = Box<[StoreError]>([])
    let isOver = Monitor(false)
    let threads = (0..<threadCount).map { thread in
      NamedThread(name: "test-\(thread)") {
        var number = 0
        while !isOver.wait({ $0 }) {
          do throws(StoreError) {
            _ = try service.apply(Self.choice(thread, number))
            answered.change { $0[thread] = number }
            number += 1
          } catch {
            // The same event again: it may have been kept.
            failures.change { $0.append(error) }
            _ = isOver.wait(timeoutMs: 20) { $0 ? () : nil }
          }
        }
      }
    }
    for round in 1...2 {
      let before = answered.wait { $0 }
      answered.wait { all in zip(all, before).allSatisfy { $0 >= $1 + 20 } ? () : nil }
      server.kill()
      let error = #expect(throws: StoreError.self) { try service.user(Identifier("user-0")) }
      guard case .sql(let sql)? = error else {
        Issue.record("round \(round): \(String(describing: error))")
        break
      }
      #expect(sql.kind == .connectionLost)
      server.start()
    }
    let before = answered.wait { $0 }
    answered.wait { all in zip(all, before).allSatisfy { $0 >= $1 + 5 } ? () : nil }
    isOver.change { $0 = true }
    for thread in threads { thread.join() }

    #expect(!failures.value.isEmpty)
    for case .sql(let error) in failures.value {
      #expect(error.kind == .connectionLost, "\(error)")
    }
    for (thread, last) in answered.wait({ $0 }).enumerated() {
      let id = Identifier("user-\(thread)")
      let rows = try #require(try service.audit(of: id, limit: .max))
      // Each once, though some were sent again.
      #expect(rows.map(\.eventID.text) == (0..<rows.count).map { "e-\($0)" })
      #expect((last + 1...last + 2).contains(rows.count))
      #expect(try service.user(id)?.version == Int64(rows.count))
    }
  }

  private static func choice(_ thread: Int, _ number: Int) -> PreferenceEvent {
    PreferenceEvent(
      eventID: Identifier("e-\(number)"), userID: Identifier("user-\(thread)"),
      atMs: StoreWorld.startMs + Int64(number), source: .inAppSettings,
      body: .choiceSet(.account, .marketing, number % 2 == 0 ? .userOn : .userOff))
  }
}

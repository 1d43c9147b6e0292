import Gate
import Pipeline
import Testing

@testable import Preferences

@Suite struct ConcurrencyTests {
  /// Threads that choose for users of their own and for one they share, and take one device from each
  /// other: every answer is one row, versions have no gap, the device has one holder.
  @Test(arguments: Backend.allCases)
  func sumsAgree(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let threadCount = 8
    let eventCount = 60
    let shared = Identifier("shared")
    let service = world.service!
    let failures = Box<[String]>([])
    let threads = (0..<threadCount).map { thread in
      let own = Identifier("own-\(thread)")
      let events = (0..<eventCount).map { number -> PreferenceEvent in
        let ms = StoreWorld.startMs + Int64(number * threadCount + thread)
        let id = "\(thread)-\(number)"
        return switch number % 3 {
        case 0: world.choice(id, own, .marketing, number % 2 == 0 ? .userOn : .userOff, at: ms)
        case 1: world.choice(id, shared, .social, number % 2 == 0 ? .userOn : .userOff, at: ms)
        default: world.seen(id, own, "device", at: ms)
        }
      }
      return NamedThread(name: "test-\(thread)") {
        for event in events {
          do throws(StoreError) {
            let answer = try service.apply(event)
            if answer.outcome == .refused || answer.isRepeat {
              failures.change { $0.append("\(event): \(answer)") }
            }
            _ = try service.user(event.userID)
          } catch {
            failures.change { $0.append("\(error)") }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(failures.value == [])
    #expect(service.counters.requests.value == UInt64(threadCount * eventCount))

    let users = (0..<threadCount).map { Identifier("own-\($0)") } + [shared]
    let outbox = try world.outbox()
    var rowCount = 0
    for id in users {
      let user = try #require(try service.user(id))
      let documents = outbox.filter { $0.topic == .state && $0.key == id.text }
      #expect(documents.count == Int(user.version))
      for (index, document) in documents.enumerated() {
        #expect(document.value!.contains("\"version\":\(index + 1),"))
      }
      let rows = try world.audit(id)
      rowCount += rows.count
      for category in [Category.marketing, .social] {
        let told = AuditHistory.choice(rows, category, .account, atMs: .max)
        #expect(told.state == user.account.choices[category]?.state ?? .unset)
        #expect(told.sinceMs == user.account.choices[category]?.inForce?.atMs)
      }
    }
    #expect(outbox.filter { $0.topic == .audit }.count == rowCount)
    let holders = try users.filter {
      try service.user($0)?.devices[Identifier("device")]?.isHeld == true
    }
    #expect(holders == [Identifier("own-\(threadCount - 1)")])
  }
}

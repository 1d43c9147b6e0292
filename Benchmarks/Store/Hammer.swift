import Gate
import Glibc
import Pipeline
import Preferences

struct NoZones: ZoneNames {
  func isKnown(_ zone: String) -> Bool { zone == "UTC" }
  func suggestions(for zone: String) -> [String] { [] }
}

func fail(_ message: String) -> Never {
  let line = message + "\n"
  _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
  exit(1)
}

/// A server's connection parameters have a sign that paths here have not.
func isServer(_ text: String) -> Bool { text.contains("=") || text.contains("://") }

func database(_ text: String) -> PreferenceDatabase {
  guard isServer(text) else { return .sqlite(path: text) }
  do throws(PostgresParameters.Fault) {
    return .postgres(try PostgresParameters(text))
  } catch {
    fail("the connection parameters \(error)")
  }
}

func openService(_ text: String, _ settings: StoreSettings = StoreSettings()) -> PreferenceService {
  do throws(StoreError) {
    return try PreferenceService(
      database: database(text),
      machine: PreferenceMachine(policy: .builtIn, zones: NoZones()),
      links: SettingsLinks(androidPackage: "org.example.app")!, settings: settings)
  } catch {
    fail("\(error)")
  }
}

/// Event `number` of a thread's own user: the choice it makes is in its number.
func choice(thread: Int, number: Int, run: String) -> PreferenceEvent {
  PreferenceEvent(
    eventID: Identifier("\(run)-\(number)"), userID: Identifier("user-\(thread)"),
    atMs: 1_780_000_000_000 + Int64(number), source: .inAppSettings,
    body: .choiceSet(.account, .marketing, number % 2 == 0 ? .userOn : .userOff))
}

/// Writes without an end. A line is printed when the write was answered, never before.
func hammer(_ database: String, threadCount: Int) {
  let service = openService(database)
  let threads = (0..<threadCount).map { thread in
    NamedThread(name: "hammer-\(thread)") {
      do throws(StoreError) {
        // On from where the one before was killed.
        var number = Int(try service.user(Identifier("user-\(thread)"))?.version ?? 0)
        while true {
          _ = try service.apply(choice(thread: thread, number: number, run: "e"))
          let line = "\(thread) \(number)\n"
          _ = line.utf8.withContiguousStorageIfAvailable { write(1, $0.baseAddress, $0.count) }
          number += 1
        }
      } catch {
        fail("\(error)")
      }
    }
  }
  for thread in threads { thread.join() }
}

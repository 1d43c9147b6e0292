import Foundation
import Gate
import Testing

@testable import Preferences

/// A process that writes is killed in the middle, again and again: no answered write is lost, and
/// state, audit and outbox tell the same story.
@Suite struct CrashTests {
  private static var hammer: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("store-bench")
  }

  @Test(arguments: Backend.allCases)
  func noAnsweredWriteIsLost(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let threadCount = 8
    var answered = [Int](repeating: -1, count: threadCount)
    for round in 1...5 {
      let before = answered
      try killAfter(writes: 100 + 150 * round, world.database.text, threadCount, &answered)
      #expect(answered != before, "nothing was written")
      try world.reopen()
      for (thread, last) in answered.enumerated() {
        try check(world, Identifier("user-\(thread)"), lastAnswered: last)
      }
    }
  }

  /// Reads the lines of answered writes and kills when there are so many. What was answered but not
  /// read yet counts too: the pipe is read to its end.
  private func killAfter(
    writes: Int, _ database: String, _ threadCount: Int, _ answered: inout [Int]
  ) throws {
    let process = Process()
    process.executableURL = Self.hammer
    process.arguments = ["hammer", database, "\(threadCount)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = Data()
    var isKilled = false
    while true {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      text.append(bytes)
      if !isKilled, text.count(where: { $0 == 0x0A }) >= writes {
        kill(process.processIdentifier, SIGKILL)
        isKilled = true
      }
    }
    process.waitUntilExit()
    #expect(isKilled && process.terminationReason == .uncaughtSignal)
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      // The last line may have been cut by the kill.
      guard numbers.count == 2 else { continue }
      answered[numbers[0]] = max(answered[numbers[0]], numbers[1])
    }
  }

  private func check(_ world: StoreWorld, _ id: Identifier, lastAnswered: Int) throws {
    guard lastAnswered >= 0 else { return }
    let rows = try world.audit(id)
    // One row an event, none missing, none twice; perhaps one more that nobody heard of.
    #expect(rows.map(\.eventID.text) == (0..<rows.count).map { "e-\($0)" })
    #expect((lastAnswered + 1...lastAnswered + 2).contains(rows.count))
    let user = try #require(try world.service.user(id))
    #expect(user.version == Int64(rows.count))
    let told = AuditHistory.choice(rows, .marketing, .account, atMs: .max)
    let held = try #require(user.account.choices[.marketing]?.inForce)
    #expect(told.state == held.value)
    #expect(told.sinceMs == held.atMs)
    let documents = try world.outbox().filter { $0.topic == .state && $0.key == id.text }
    #expect(documents.count == rows.count)
    #expect(documents.last?.value == PreferenceDocument.text(user))
  }
}

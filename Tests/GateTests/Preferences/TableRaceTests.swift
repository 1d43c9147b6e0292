import Synchronization
import Testing

@testable import Gate

/// One writer replaces, erases and grows while readers look up: a reader sees one document or the
/// next, whole. Every field of a document follows from one number, so that a mixed one would show.
/// The thread sanitizer looks on where the tests are built with it.
@Suite struct TableRaceTests {
  private static let baseMs = instant("2020-01-01T00:00:00Z") * 1000
  private static let users = 400
  private static let operations = 30_000
  private static let batch = 16

  private static func user(_ number: Int) -> String { "racer-\(number)" }

  private static func document(user: Int, number: Int) -> String {
    let devices = (0..<deviceCount(number)).map {
      """
      {"device_id":"d-\(number)-\($0)","platform":"ios","os_permission":"granted",\
      "token_status":"active","region":"US",\
      "quiet_hours":{"start":"\(time(number % 1_440))","end":"24:00"}}
      """
    }
    return """
      {"user_id":"\(Self.user(user))","version":\(number),"account":{"categories":{"marketing":\
      {"state":"user-on","at":\(baseMs + Int64(number)),"source":"in_app_settings"}},\
      "muted_subtypes":{"social":["m-\(number)"]}},"devices":[\(devices.joined(separator: ","))]}
      """
  }

  private static func deviceCount(_ number: Int) -> Int { 1 + number % 5 }

  private static func time(_ minute: Int) -> String {
    let two = { (n: Int) in n < 10 ? "0\(n)" : "\(n)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
  }

  /// What is wrong with a block, nil where all of it is of one document.
  private static func fault(_ block: PackedBlock) -> String? {
    guard let version = block.version else { return "no version" }
    let number = Int(version)
    guard block.offset == version else { return "offset \(block.offset) of \(number)" }
    guard block.deviceCount == deviceCount(number) else {
      return "\(block.deviceCount) devices of \(number)"
    }
    let at = baseMs + version
    guard block.hasConsent(.marketing, device: 0, nowMs: at),
      !block.hasConsent(.marketing, device: 0, nowMs: at - 1)
    else { return "consent of \(number)" }
    guard withBytes("m-\(number)", { block.isMuted($0, .social, device: 0) }) else {
      return "mute of \(number)"
    }
    for index in 0..<block.deviceCount {
      let device = block.device(index)
      guard withBytes("d-\(number)-\(index)", { block.deviceID(device).equals($0) }) else {
        return "device \(index) of \(number)"
      }
      guard device.place.window.startMinute == number % 1_440 else {
        return "window \(index) of \(number)"
      }
    }
    return nil
  }

  private final class Flag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  private struct Reading {
    var blocks = 0
    var faults: [String] = []
  }

  /// Written by one reader, read once it has ended: the sanitizer knows joins, but not the standard
  /// library's mutexes, which were not built for it.
  private final class Result: @unchecked Sendable {
    var reading = Reading()
  }

  private static func read(
    _ table: PreferenceTable, _ epochs: Epochs, until done: Flag, seed: UInt64
  ) -> Reading {
    var generator = SeededGenerator(seed: seed)
    var reading = Reading()
    let slot = epochs.register()
    while !done.isSet.load(ordering: .relaxed) || reading.blocks == 0 {
      epochs.passBoundary(slot)
      var found: [(hash: UserHash, block: PackedBlock)] = []
      for _ in 0..<batch {
        let user = Self.user(Int.random(in: 0..<users, using: &generator))
        let hash = withBytes(user) { table.hash($0) }
        table.prefetch(hash)
        if let block = table.find(hash) { found.append((hash, block)) }
      }
      // Twice: a block must stay what it was up to the boundary.
      for _ in 0..<2 {
        for (hash, block) in found {
          if !table.confirm(block, hash) { reading.faults.append("another user's") }
          if let fault = fault(block) { reading.faults.append(fault) }
          reading.blocks += 1
        }
      }
      if reading.faults.count > 10 { break }
    }
    epochs.goIdle(slot)
    return reading
  }

  /// One document after the other, each number on some user; one in eight erases instead.
  private static func write(_ table: PreferenceTable) {
    var generator = SeededGenerator(seed: 99)
    for number in 1...operations {
      // Users come one after the other, so that the shards grow while they are read.
      let known = min(users, 1 + number / 40)
      let user = Int.random(in: 0..<known, using: &generator)
      let isErased = Int.random(in: 0..<8, using: &generator) == 0
      let document = isErased ? [] : Array(document(user: user, number: number).utf8)
      let applied = withBytes(Self.user(user)) { key in
        document.withUnsafeBytes {
          table.apply(key: key, value: isErased ? nil : $0, offset: Int64(number))
        }
      }
      precondition(applied == (isErased ? .erased : .stored([])), "\(applied)")
    }
  }

  @Test func everyDocumentIsSeenWhole() {
    let epochs = Epochs()
    let table = PreferenceTable(
      hashKey: (3, 4), zones: ZonePublisher(epochs: Epochs()), epochs: epochs)
    let done = Flag()
    let results = (0..<3).map { _ in Result() }
    let readers = results.indices.map { reader in
      TestThread {
        results[reader].reading = Self.read(table, epochs, until: done, seed: UInt64(reader))
      }
    }
    Self.write(table)
    done.isSet.store(true, ordering: .relaxed)
    for reader in readers { reader.join() }
    for reading in results.map(\.reading) {
      #expect(reading.faults.isEmpty, "\(reading.faults.prefix(5))")
      #expect(reading.blocks > 0)
    }
  }
}

import Foundation
import Synchronization

@testable import Preferences

/// A PostgreSQL server of the test run's own: `Tests/postgres-server`, which ends when this process does.
final class PostgresServer: Sendable {
  /// Started when the first test asks; for those that leave it running.
  static let shared = PostgresServer()

  private let words: FileHandle
  private let said: FileHandle
  private let folder: String

  init() {
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../postgres-server").standardizedFileURL
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      preconditionFailure("Tests/postgres-server: \(error)")
    }
    words = input.fileHandleForWriting
    said = output.fileHandleForReading
    folder = Self.line(said)
    precondition(folder.hasPrefix("/"), "Tests/postgres-server said \"\(folder)\"")
  }

  /// For a server that is not shared.
  func end() throws { try words.close() }

  /// kill -9; returns when all of it is gone.
  func kill() { tell("kill", wanted: "killed") }
  /// Starts it again; returns when it takes connections.
  func start() { tell("start", wanted: folder) }

  private func tell(_ word: String, wanted: String) {
    words.write(Data("\(word)\n".utf8))
    let answer = Self.line(said)
    precondition(answer == wanted, "Tests/postgres-server said \"\(answer)\"")
  }

  private static func line(_ handle: FileHandle) -> String {
    var text = Data()
    while let byte = try? handle.read(upToCount: 1), byte.first != 0x0A { text.append(byte) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let count = Atomic<Int>(0)

  /// Connection parameters that lead to a new, empty schema.
  func makeSchema() throws -> String {
    let name = "s\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
    let connection = try PostgresConnection(
      PostgresParameters(parameters), access: .readWrite, busyMsMax: 0)
    defer { connection.close() }
    try connection.runScript("CREATE SCHEMA \(name)")
    return "\(parameters) options='-c search_path=\(name)'"
  }

  var parameters: String { "host=\(folder) user=sendgate dbname=postgres" }
}

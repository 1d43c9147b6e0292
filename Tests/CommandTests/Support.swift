import Foundation
import TestSupport
import Testing

@testable import sendgate

/// The repository's root, found from this file.
let repositoryRoot = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

/// A folder of the test's own, removed afterwards.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  return try body(folder.path)
}

func readText(_ path: String) throws -> String {
  try String(contentsOfFile: path, encoding: .utf8)
}

/// Runs a command line, and returns how it ended and what it printed.
func dispatch(
  _ words: [String], commands: [Command] = CommandTable.all, environment: [String: String] = [:]
) -> (code: Int32, out: String, error: String) {
  var (out, error) = ("", "")
  let code = Dispatch(
    commands: commands, environment: environment, printOut: { out += $0 },
    printError: { error += $0 }
  ).run(words)
  return (code, out, error)
}

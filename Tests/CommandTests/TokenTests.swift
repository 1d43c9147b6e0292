import Glibc
import Preferences
import TestSupport
import Testing
import Web

@testable import sendgate

private struct Folder {
  let folder = TemporaryFolder()

  var file: String { folder.file("tokens") }

  func write(_ text: String, mode: mode_t = 0o600) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
    _ = Array(text.utf8).withUnsafeBytes { FileIO.writeAll($0, to: descriptor) }
    fchmod(descriptor, mode)
    close(descriptor)
  }
}

@Test func aTokensFileGrowsByALine() throws {
  let folder = Folder()
  let first = AccessToken.make()
  let second = AccessToken.make()
  try TokensFile.append(
    TokenTable.line(id: "web", role: .app, token: first), named: "web", to: folder.file)
  var status = stat()
  #expect(stat(folder.file, &status) == 0 && status.st_mode & 0o777 == 0o600)
  // Somebody's editor left the last line without its end.
  let kept = try FileIO.read(folder.file, bytesMax: 10_000)
  folder.write(String(decoding: kept.dropLast(), as: UTF8.self))
  try TokensFile.append(
    TokenTable.line(id: "ops", role: .admin, token: second), named: "ops", to: folder.file)
  let table = try TokensFile.read(folder.file)
  #expect(table.entry(for: first)?.role == .app)
  #expect(table.entry(for: second)?.role == .admin)

  let failure = #expect(throws: CommandFailure.self) {
    try TokensFile.append(
      TokenTable.line(id: "web", role: .admin, token: second), named: "web", to: folder.file)
  }
  #expect(failure?.exitCode == ExitCode.badData)
  #expect(try TokensFile.read(folder.file).entries.count == 2)
}

@Test func aTokensFileThatOthersMayWriteIsRefused() throws {
  let folder = Folder()
  folder.write("", mode: 0o620)
  let failure = #expect(throws: CommandFailure.self) { _ = try TokensFile.read(folder.file) }
  #expect(failure?.exitCode == ExitCode.configuration)
  #expect(failure?.description.contains("chmod go-w") == true)
  folder.write("web app", mode: 0o644)
  let fault = #expect(throws: CommandFailure.self) { _ = try TokensFile.read(folder.file) }
  #expect(fault?.description.hasSuffix("line 1: wants a name, a role and a hash") == true)
}

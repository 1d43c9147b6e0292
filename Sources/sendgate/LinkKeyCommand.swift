import Gate
import Glibc
import Telemetry

/// `sendgate link-key new|sign|remove|list`: the keys of signed links.
enum LinkKeyCommand {
  static let command = Command(
    name: "link-key",
    summary: "make and rotate the keys that sign unsubscribe links",
    details: """
      new adds a key; the first of a file signs, a later one not yet. Give the file to every gate and
      preference service, restart them, and only then let the key sign: sign --id N, and the file to
      the gates again. remove --id N takes a key away; its links are no longer good, so wait until
      the last of them has expired (unsubscribe.lifetime_days), or do it at once where it leaked. list
      shows the keys without their secrets.
      """,
    operands: [
      Operand(
        name: "ACTION", choices: ["new", "sign", "remove", "list"], summary: "what to do")
    ],
    flags: [
      .text("file", "FILE", "the key file (unsubscribe.keys_file)", isRequired: true),
      .integer("id", "N", 1...65_535, "the key, for sign and remove"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let path = arguments.requiredText("file")
    switch arguments.operands[0] {
    case "new": try new(path)
    case "list":
      let file = try LinkKeyFile.read(path)
      for key in file.all {
        say("key \(key.id), made \(key.madeAt)\(key.id == file.signingID ? ", signs" : "")")
      }
    case let action:
      guard let id = arguments.integer("id").map({ UInt16($0) }) else {
        throw .usage("--id N is required: the key to \(action)")
      }
      var file = try LinkKeyFile.read(path)
      if action == "sign" { try file.sign(with: id) } else { try file.remove(id) }
      try file.write(path)
      say(action == "sign" ? "key \(id) signs" : "key \(id) is removed")
    }
    return ExitCode.ok
  }

  private static func new(_ path: String) throws(CommandFailure) {
    let nowMs = SystemTime.wallClockMs()
    guard access(path, F_OK) == 0 else {
      try LinkKeyFile(nowMs: nowMs).write(path)
      return say("key 1 is made, and signs")
    }
    var file = try LinkKeyFile.read(path)
    let id = try file.add(nowMs: nowMs)
    try file.write(path)
    say("key \(id) is made; key \(file.signingID) signs until you say: link-key sign --id \(id)")
  }

  private static func say(_ line: String) { Process.print(line + "\n", to: STDOUT_FILENO) }
}

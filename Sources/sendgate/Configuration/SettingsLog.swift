import Telemetry

/// Many settings in few lines: a line each would meet the limit on repeats, and one line for all the
/// limit on a value's length.
enum SettingsLog {
  private static let bytesMax = 900

  static func write(
    _ settings: [String], _ message: StaticString, client: String? = nil, to log: Logger
  ) {
    var line = ""
    for setting in settings {
      if !line.isEmpty, line.utf8.count + setting.utf8.count > bytesMax {
        write(line, message, client, log)
        line = ""
      }
      line += line.isEmpty ? setting : ", " + setting
    }
    if !line.isEmpty { write(line, message, client, log) }
  }

  private static func write(
    _ line: String, _ message: StaticString, _ client: String?, _ log: Logger
  ) {
    if let client {
      log.info(message, ["kafka.client": .string(client), "configuration": .string(line)])
    } else {
      log.info(message, ["configuration": .string(line)])
    }
  }
}

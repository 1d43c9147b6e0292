import Consumer
import Gate
import Glibc
import Pipeline
import Telemetry

/// `sendgate table`: what a gate knows of users, read from the topics as a gate reads them.
enum TableCommand {
  static let command = Command(
    name: "table",
    summary: "show what a gate's preference table holds of users",
    details: """
      Reads preferences.state and preferences.defaults to their ends, by the reader, the decoder and the
      table of sendgate run, and prints a line of JSON for each --user: version and offset of the
      document, and every field that decisions read. A user of whom a gate knows nothing has
      "known": false. Joins no group and writes nothing; waits for a broker that is away.
      """,
    flags: RunFlags.configuration + [
      .text("user", "ID", "whose", isRequired: true, isRepeatable: true)
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let world = try SharedWorld(
      try arguments.loadConfiguration(), log: Logger(format: .json, levelMin: .warning))
    do throws(TimeZoneDatabaseError) {
      try TimeZoneDatabase().load(into: world.zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    let findings = Findings()
    let control = LaneControl()
    PreferenceThread.run(world, findings, control, onReady: { control.ask(.drain) })
    if let stop = findings.stop {
      throw CommandFailure(stop.exitCode, stop.reasons.joined(separator: "\n"))
    }
    for user in arguments.texts("user") {
      Process.print(
        TableLine.text(user, world.preferences.view(of: user), world.zones) + "\n",
        to: STDOUT_FILENO)
    }
    return ExitCode.ok
  }
}

/// One user's line.
enum TableLine {
  static func text(_ user: String, _ view: PreferenceView?, _ zones: ZonePublisher) -> String {
    JSONLine.make { line in
      line.add("user_id", user)
      line.add("known", flag: view != nil)
      guard let view else { return }
      if let version = view.version { line.add("version", number: Int(version)) }
      line.add("offset", number: Int(view.offset))
      line.add("readable", flag: !view.isUnreadable)
      line.add("account") { line in
        add(view.account, zones, to: &line)
        if let atMs = view.smsConsentAtMs { line.add("sms_consent_at_ms", number: Int(atMs)) }
      }
      line.add("devices", each: view.devices) { line, device in
        line.add("device_id", device.id)
        line.add("platform", "\(device.platform.name)")
        line.add("os_permission", "\(device.osPermission.name)")
        line.add("token_status", "\(device.tokenStatus.name)")
        line.add("region", device.region)
        add(device.scope, zones, to: &line)
      }
    }
  }

  private static func add(
    _ scope: PreferenceView.Scope, _ zones: ZonePublisher, to line: inout JSONLine
  ) {
    line.add("choices") { line in
      for category in Category.allCases {
        line.add("\(category.name)", scope.choices[category].map { "\($0.name)" })
      }
    }
    line.add("consent_at_ms") { line in
      for category in Category.allCases {
        if let atMs = scope.consents[category] {
          line.add("\(category.name)", number: Int(atMs))
        }
      }
    }
    line.add("muted_subtypes") { line in
      for category in Category.allCases {
        if let names = scope.mutes[category] { line.add("\(category.name)", list: names) }
      }
    }
    line.add("suppressions", list: scope.suppressions.map { "\($0.name)" })
    line.add("timezone", zones.name(of: scope.zone))
    switch scope.window {
    case .absent: break
    case .null: line.addNull("quiet_hours")
    case .invalid: line.add("quiet_hours", "invalid")
    case .set(let start, let end, let days):
      line.add("quiet_hours") { line in
        line.add("start_minute", number: Int(start))
        line.add("end_minute", number: Int(end))
        line.add("days", number: Int(days))
      }
    }
  }
}

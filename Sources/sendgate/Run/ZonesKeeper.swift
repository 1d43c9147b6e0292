import Gate
import Pipeline
import Telemetry

/// Keeps the time zones up to date with the tz database on disk. Lives on the main thread.
final class ZonesKeeper {
  private let world: SharedWorld
  private let findings: Findings
  private let registry: MetricRegistry
  private let database = TimeZoneDatabase()
  private let clock = SystemClock()
  private var versionsSeen: Set<String> = []
  private var checkedAtMs: Int64 = 0
  private var renewedAtMs: Int64 = 0
  private static let renewIntervalMs: Int64 = 3_600_000

  /// Loads the zones, and holds the policy against them.
  init(
    _ world: SharedWorld, _ findings: Findings, _ registry: MetricRegistry
  ) throws(CommandFailure) {
    self.world = world
    self.findings = findings
    self.registry = registry
    do throws(TimeZoneDatabaseError) {
      try database.load(into: world.zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    try PolicyFile.check(world.policy, world.zones)
    noteVersion()
  }

  /// Such as `2026f`.
  var version: String { String(decoding: world.zones.current.version, as: UTF8.self) }

  /// To be called once a turn: looks at the disk when it is time to.
  func turn(_ nowMs: Int64) {
    if nowMs - checkedAtMs >= Int64(world.configuration.zonesCheckIntervalMs) {
      checkedAtMs = nowMs
      check()
    }
    if nowMs - renewedAtMs >= Self.renewIntervalMs {
      renewedAtMs = nowMs
      world.zones.renewCaches(nowSeconds: clock.wallMs() / 1_000)
    }
  }

  private func check() {
    guard database.changed() else {
      // Back to what is in use: there is nothing to refuse any more.
      findings.zonesAreRefused(nil)
      return
    }
    do throws(TimeZoneDatabaseError) {
      try database.load(into: world.zones)
      findings.zonesAreRefused(nil)
      noteVersion()
      // When what is held is due follows from them.
      for changes in world.preferenceChanges { changes.noteEverything() }
      world.log.info("Reloaded the time zones", ["tzdb": .string(version)])
    } catch {
      findings.zonesAreRefused("\(error)")
      world.log.error(
        "The tz database on disk is refused; the zones read before stay in use, and it is tried again",
        [
          "tzdb": .string(version), "zone.file": .string(error.path),
          "reason": .string("\(error)"),
        ])
    }
  }

  private func noteVersion() {
    guard versionsSeen.insert(version).inserted else { return }
    GateMetrics.registerZones(version, world, in: registry)
  }
}

import Gate
import Pipeline
import Preferences
import Telemetry
import Web

/// Opens the store with what its rules need: the policy and the zones of this machine.
struct OpenStore {
  let policy: Policy
  let zones: ZonePublisher
  /// Of the readers of the zones.
  let epochs = Epochs()
  let database = TimeZoneDatabase()
  let service: PreferenceService

  /// - Parameter isReading: nothing is written; the database must be there.
  init(_ configuration: StoreConfiguration, isReading: Bool = false) throws(CommandFailure) {
    policy = try PolicyFile.read(configuration.policyFile)
    zones = ZonePublisher(epochs: epochs)
    do throws(TimeZoneDatabaseError) {
      try database.load(into: zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    try PolicyFile.check(policy, zones)
    let machine = PreferenceMachine(policy: policy, zones: zones)
    do throws(StoreError) {
      if isReading {
        service = try PreferenceService(
          reading: configuration.database, machine: machine, links: configuration.links)
      } else {
        service = try PreferenceService(
          database: configuration.database, machine: machine, links: configuration.links,
          settings: configuration.store)
      }
    } catch {
      throw CommandFailure(Self.exitCode(error), "\(error)")
    }
  }

  static func exitCode(_ error: StoreError) -> Int32 {
    switch error {
    case .newerSchema, .olderSchema: ExitCode.configuration
    case .overloaded, .closed: ExitCode.unavailable
    case .sql(let error):
      switch error.kind {
      case .cannotOpen, .readOnly: ExitCode.cannotCreate
      case .notOurs: ExitCode.badData
      case .connectionLost, .tooSlow: ExitCode.unavailable
      default: ExitCode.ioError
      }
    }
  }
}

extension OpenStore {
  /// What support is answered from.
  /// - Parameter evidence: nil: no index is kept.
  func desk(evidence: (any EvidenceSource)?) -> SupportDesk {
    SupportDesk(
      service: service, evidence: evidence,
      panel: NowPanel(
        policy: policy, zones: zones, epochs: epochs, nowMs: SystemTime.wallClockMs),
      quietMap: QuietMap(
        service, policy: policy, zones: zones, epochs: epochs, nowMs: SystemTime.wallClockMs),
      nowMs: SystemTime.wallClockMs)
  }
}

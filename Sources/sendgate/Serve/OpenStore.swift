import Gate
import Pipeline
import Preferences

/// Opens the store with what its rules need: the policy and the zones of this machine.
struct OpenStore {
  let policy: Policy
  let zones: ZonePublisher
  let database = TimeZoneDatabase()
  let service: PreferenceService

  /// - Parameter isReading: nothing is written; the database must be there.
  init(_ configuration: StoreConfiguration, isReading: Bool = false) throws(CommandFailure) {
    policy = try PolicyFile.read(configuration.policyFile)
    zones = ZonePublisher(epochs: Epochs())
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

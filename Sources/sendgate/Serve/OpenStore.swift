import Gate
import Pipeline
import Preferences

/// Opens the store with what its rules need: the policy and the zones of this machine.
struct OpenStore {
  let policy: Policy
  let zones: ZonePublisher
  let database = TimeZoneDatabase()
  let service: PreferenceService

  init(_ configuration: StoreConfiguration) throws(CommandFailure) {
    policy = try PolicyFile.read(configuration.policyFile)
    zones = ZonePublisher(epochs: Epochs())
    do throws(TimeZoneDatabaseError) {
      try database.load(into: zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    try PolicyFile.check(policy, zones)
    do throws(StoreError) {
      service = try PreferenceService(
        database: configuration.database,
        machine: PreferenceMachine(policy: policy, zones: zones), links: configuration.links,
        settings: configuration.store)
    } catch {
      throw CommandFailure(Self.exitCode(error), "\(error)")
    }
  }

  static func exitCode(_ error: StoreError) -> Int32 {
    switch error {
    case .newerSchema: ExitCode.configuration
    case .overloaded, .closed: ExitCode.unavailable
    case .sql(let error):
      switch error.kind {
      case .cannotOpen, .readOnly: ExitCode.cannotCreate
      case .notOurs: ExitCode.badData
      default: ExitCode.ioError
      }
    }
  }
}

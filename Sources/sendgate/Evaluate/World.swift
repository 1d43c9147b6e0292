import Gate
import Glibc
import Pipeline

/// The policy, the zones and the preferences of an evaluation, read from files.
struct World {
  private let policy: Policy
  private let zones: ZonePublisher
  private let preferences: PreferenceTable

  init(policyFile: String?) throws(CommandFailure) {
    policy = try PolicyFile.read(policyFile)
    let epochs = Epochs()
    zones = ZonePublisher(epochs: epochs)
    do throws(TimeZoneDatabaseError) {
      try TimeZoneDatabase().load(into: zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    try PolicyFile.check(policy, zones)
    preferences = PreferenceTable(
      hashKey: (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max))), zones: zones,
      epochs: epochs)
  }

  /// - Parameter partitionCount: 0 leaves keys and partitions unchecked.
  func engine(_ lane: Lane, partitionCount: Int32 = 0) -> Engine {
    Engine(
      lane: lane, policy: policy, preferences: preferences, zones: zones,
      partitionCount: partitionCount)
  }

  /// A document that cannot be read makes its user unreadable, as it would from the topic.
  func readPreferences(_ path: String) throws(CommandFailure) {
    var number: Int64 = 0
    try LineReader.forEachLine(of: path) { (line) throws(CommandFailure) in
      number += 1
      switch preferences.apply(document: line, offset: number - 1) {
      case .unreadable(let fault):
        Process.print("sendgate: \(path):\(number): the document \(fault.words)\n", to: 2)
      case .ignored:
        throw CommandFailure(
          ExitCode.badData, "\(path):\(number): a document from which no user_id can be read")
      default: break
      }
    }
  }

  func readDefaults(_ path: String) throws(CommandFailure) {
    var number = 0
    try LineReader.forEachLine(of: path) { (line) throws(CommandFailure) in
      number += 1
      if !preferences.applyDefault(record: line) {
        Process.print(
          "sendgate: \(path):\(number): the default is refused: it is none, or off for security\n",
          to: 2)
      }
    }
  }
}

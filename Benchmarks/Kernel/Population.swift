import Gate
import Workload

/// A table of so many devices, and a lane for the candidates of its users.
final class Population {
  let devices: Int
  let users: Int
  let idBytes: Int
  let preferences: PreferenceTable
  let zones: ZonePublisher
  let epochs = Epochs()
  /// CPU time of a document, its making included.
  let applyNanoseconds: Double

  init(devices goal: Int, of everybody: Users, _ documents: Documents) {
    let zones = ZonePublisher(epochs: epochs)
    Places.publish(into: zones, nowSeconds: nowMs / 1000)
    let preferences = PreferenceTable(hashKey: (1, 2), zones: zones, epochs: epochs)
    var users = 0
    var devices = 0
    var idBytes = 0
    let start = cpuNanoseconds()
    while devices < goal {
      documents.with(users) {
        guard case .stored = preferences.apply(document: $0, offset: 0) else {
          fatalError("a document of the workload cannot be read")
        }
      }
      devices += documents.deviceCount(users)
      idBytes += documents.deviceIDBytes(users)
      users += 1
    }
    applyNanoseconds = Double(cpuNanoseconds() - start) / Double(users)
    self.preferences = preferences
    self.zones = zones
    self.users = users
    self.devices = devices
    self.idBytes = idBytes
  }

  func lane(_ lane: Lane, _ state: LaneState? = nil, links: LinkSettings? = nil) -> Lanes {
    Lanes(
      engine: Engine(
        lane: lane, policy: .builtIn, preferences: preferences, zones: zones,
        partitionCount: Candidates.partitionCount, state: state, links: links),
      epochs: epochs, slot: epochs.register(), nowMs: nowMs)
  }

  /// Bytes a device, the ids apart.
  var bytesPerDevice: Double { Double(preferences.memoryBytes - idBytes) / Double(devices) }
  var bytesPerDeviceWithIDs: Double { Double(preferences.memoryBytes) / Double(devices) }
}

import Broker
import Gate
import Pipeline

/// The thread that reads the preferences of a process and is the one writer of its table.
final class SimFollower {
  private let world: World
  private let machine: Machine
  private let table: PreferenceTable
  private let readiness: PreferenceReadiness
  private let changes: PreferenceChanges
  private let connection: Connection
  private let partitionCount: Int32
  private var positions: [Int64]
  private var defaultsAt: Int64 = 0
  private var ends: FollowedEnds
  private var defaultsEnds = FollowedEnds(partitionCount: 1)
  private var askAtMs: Int64 = 0

  init(
    table: PreferenceTable, readiness: PreferenceReadiness, changes: PreferenceChanges,
    partitionCount: Int32, of machine: Machine
  ) {
    self.table = table
    self.readiness = readiness
    self.changes = changes
    self.partitionCount = partitionCount
    self.machine = machine
    world = machine.world
    connection = Connection("preferences", of: machine)
    positions = Array(repeating: 0, count: Int(partitionCount))
    ends = FollowedEnds(partitionCount: Int(partitionCount))
    machine.startFiber("preferences") { [self] in run() }
  }

  private func run() {
    while !machine.isDead {
      askForEnds()
      read()
      publish()
    }
  }

  private func read() {
    let wanted =
      [(topic: SimTopics.defaults, partition: Int32(0), offset: defaultsAt)]
      + positions.indices.map {
        (topic: SimTopics.preferences, partition: Int32($0), offset: positions[$0])
      }
    let response = world.call(
      Requests.fetch(wanted, isolation: 1, maxWaitMs: 100), on: connection,
      timeoutMs: SimTimes.requestMs)
    guard let response else { return world.sleep(ms: 20) }
    for (topic, fetched) in response.fetched where fetched.error == .none {
      if topic == SimTopics.defaults { takeDefaults(fetched) } else { take(fetched) }
    }
  }

  private func take(_ fetched: FetchedPartition) {
    let partition = fetched.index
    let (records, next) = fetched.committedRecords(from: positions[Int(partition)])
    for record in records {
      SimStateTopic.withBytes(record) { key, value, _ in
        _ = table.apply(key: key, value: value, offset: record.offset)
        if readiness.isReady {
          changes.note(
            PreferenceChanges.Change(partition: partition, user: table.userHash(key!)))
        }
      }
    }
    positions[Int(partition)] = next
    ends.reached(partition: partition, offset: next)
  }

  private func takeDefaults(_ fetched: FetchedPartition) {
    let (records, next) = fetched.committedRecords(from: defaultsAt)
    for record in records {
      SimStateTopic.withBytes(record) { key, value, _ in
        _ = table.applyDefault(key: key, value: value)
      }
    }
    defaultsAt = next
    defaultsEnds.reached(partition: 0, offset: next)
  }

  private func askForEnds() {
    guard world.nowMs >= askAtMs else { return }
    askAtMs = world.nowMs + 300
    let askedAtMs = world.nowMs
    let all = Array(0..<partitionCount)
    for one in listed(SimTopics.preferences, all) {
      ends.asked(atMs: askedAtMs, partition: one.index, end: one.offset)
    }
    for one in listed(SimTopics.defaults, [0]) {
      defaultsEnds.asked(atMs: askedAtMs, partition: 0, end: one.offset)
    }
  }

  private func listed(_ topic: String, _ partitions: [Int32]) -> [ListedPartition] {
    let listed = world.call(
      Requests.offsets(topic, partitions, timestamp: -1, isolation: 1), on: connection,
      timeoutMs: SimTimes.requestMs)?.listed
    return (listed ?? []).filter { $0.error == .none }
  }

  private func publish() {
    guard !machine.isDead, let fresh = ends.freshAtMs, let freshDefaults = defaultsEnds.freshAtMs
    else { return }
    readiness.setFresh(atMs: min(fresh, freshDefaults))
    // After the instant: a lane that sees ready must not see it as stale.
    if !readiness.isReady { readiness.becomeReady() }
  }
}

import Broker
import Gate
import Pipeline

/// What a lane remembers, as its reader brings it: two handles of two isolation levels ask where a
/// partition ends, one reads.
final class SimStateTopic: StateSource {
  private struct Place: Hashable {
    var stream: StateStream
    var partition: Int32
  }
  private struct Cursor {
    var place: Place
    var offset: Int64
    /// Told already.
    var endedAt: Int64 = -1
  }

  let streams: [StateStream]
  private let world: World
  private let machine: Machine
  private let lane: Lane
  private let reader: Connection
  private let watcher: Connection
  private var random: SimRandom
  private var cursors: [Cursor] = []
  private static let recordsMax = 20

  init(_ lane: Lane, random: SimRandom, of machine: Machine) {
    self.lane = lane
    streams = lane == .security ? [.state] : [.state, .holds]
    self.machine = machine
    self.random = random
    world = machine.world
    reader = Connection("state", of: machine)
    watcher = Connection("state-ends", of: machine)
  }

  private func topic(_ stream: StateStream) -> String {
    stream == .state ? SimTopics.state(lane) : SimTopics.deferred
  }

  private func failure(_ what: String) -> Failure {
    Failure(machine.isDead ? .fatal : .retriable, what)
  }

  func settled(_ partitions: [Int32]) throws(Failure) -> [StatePosition] {
    var settled = partitions
    var ends: [StatePosition] = []
    for stream in streams where !settled.isEmpty {
      // The end of all first: what is committed between the two answers moves the second alone.
      let all = try self.ends(stream, settled, isolation: 0, watcher)
      let stable = try self.ends(stream, settled, isolation: 1, reader)
      #if PlantedBugs
        if PlantedBug.is(.restoreBeforeSettled) {
          ends += settled.map { StatePosition(stream, partition: $0, offset: stable[$0]!) }
          continue
        }
      #endif
      settled = settled.filter { stable[$0]! >= all[$0]! }
      ends += settled.map { StatePosition(stream, partition: $0, offset: all[$0]!) }
    }
    return ends.filter { settled.contains($0.partition) }
  }

  private func ends(
    _ stream: StateStream, _ partitions: [Int32], isolation: Int8, _ connection: Connection
  ) throws(Failure) -> [Int32: Int64] {
    let listed = world.call(
      Requests.offsets(topic(stream), partitions, timestamp: -1, isolation: isolation),
      on: connection, timeoutMs: SimTimes.requestMs)?.listed
    guard let listed, listed.count == partitions.count, listed.allSatisfy({ $0.error == .none })
    else { throw failure("the ends are not told") }
    var ends: [Int32: Int64] = [:]
    for one in listed { ends[one.index] = one.offset }
    return ends
  }

  func read(_ positions: [StatePosition]) throws(Failure) {
    if machine.isDead { throw failure("killed") }
    cursors = positions.map {
      Cursor(
        place: Place(stream: $0.stream, partition: $0.partition), offset: max(0, $0.offset))
    }
  }

  func poll(timeoutMs: Int32, _ body: (StateEvent) -> Void) throws(Failure) {
    if machine.isDead { throw failure("killed") }
    guard !cursors.isEmpty else { return world.sleep(ms: max(1, Int64(timeoutMs))) }
    let wanted = cursors.map {
      (topic: topic($0.place.stream), partition: $0.place.partition, offset: $0.offset)
    }
    #if PlantedBugs
      let isolation: Int8 = PlantedBug.is(.restoreUncommitted) ? 0 : 1
    #else
      let isolation: Int8 = 1
    #endif
    let response = world.call(
      Requests.fetch(wanted, isolation: isolation, maxWaitMs: timeoutMs), on: reader,
      timeoutMs: SimTimes.requestMs)
    if machine.isDead { throw failure("killed") }
    guard let fetched = response?.fetched, fetched.count == cursors.count else {
      return world.sleep(ms: 5)
    }
    for index in cursors.indices { take(&cursors[index], fetched[index].partition, body) }
  }

  private func take(
    _ cursor: inout Cursor, _ fetched: FetchedPartition, _ body: (StateEvent) -> Void
  ) {
    let place = cursor.place
    if fetched.error == .offsetOutOfRange {
      return body(.outOfRange(place.stream, partition: place.partition))
    }
    guard fetched.error == .none else { return }
    let (records, next) = fetched.committedRecords(from: cursor.offset)
    let taken = records.prefix(1 + random.below(Self.recordsMax))
    for record in taken {
      let position = StatePosition(
        place.stream, partition: place.partition, offset: record.offset)
      Self.withBytes(record) { key, value, headers in
        body(.record(position, key: key, value: value, headers: headers))
      }
    }
    cursor.offset = taken.count < records.count ? taken.last!.offset + 1 : next
    guard taken.count == records.count, cursor.offset >= fetched.lastStableOffset,
      cursor.endedAt != cursor.offset
    else { return }
    cursor.endedAt = cursor.offset
    body(
      .end(StatePosition(place.stream, partition: place.partition, offset: cursor.offset)))
  }

  static func withBytes(
    _ record: Record,
    _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?, UnsafeRawBufferPointer) -> Void
  ) {
    let carried = record.headers.first { $0.name == SimRecords.carriedHeader }?.value ?? []
    carried.withUnsafeBytes { headers in
      withBytes(record.key) { key in withBytes(record.value) { body(key, $0, headers) } }
    }
  }

  private static func withBytes(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Void
  ) {
    guard let bytes else { return body(nil) }
    bytes.withUnsafeBytes { body($0) }
  }

  func close() {}
}

/// Payloads that memory had no room for.
final class SimPayloads: HoldPayloadSource {
  private let world: World
  private let machine: Machine
  private let connection: Connection

  init(of machine: Machine) {
    self.machine = machine
    world = machine.world
    connection = Connection("deferred", of: machine)
  }

  private func fetch(_ partition: Int32, from offset: Int64) throws(Failure) -> FetchedPartition {
    let response = world.call(
      Requests.fetch(
        [(SimTopics.deferred, partition, offset)], isolation: 1, maxWaitMs: 0),
      on: connection, timeoutMs: SimTimes.requestMs)
    guard let fetched = response?.fetched.first?.partition, fetched.error == .none else {
      throw Failure(machine.isDead ? .fatal : .retriable, "holds are not read yet")
    }
    return fetched
  }

  func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure) {
    for (index, offset) in offsets.enumerated() {
      let fetched = try fetch(partition, from: offset)
      guard let record = fetched.committedRecords(from: offset).records.first,
        record.offset == offset, record.value != nil
      else { continue }
      SimStateTopic.withBytes(record) { _, value, headers in
        body(index, HoldPayload(value: value!, headers: headers))
      }
    }
  }

  func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64 {
    let (records, next) = try fetch(partition, from: offset).committedRecords(from: offset)
    for record in records where record.value != nil {
      record.key!.withUnsafeBytes { body(record.offset, $0) }
    }
    return next
  }
}

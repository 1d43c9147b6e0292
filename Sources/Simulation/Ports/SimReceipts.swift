import Broker
import Gate
import Pipeline

/// Receipts, read by hand.
final class SimReceipts: ReceiptSource {
  private let world: World
  private let machine: Machine
  private let connection: Connection
  private var positions: [PartitionOffset] = []
  private let batch = BorrowedRecords()
  /// Told what a batch has, before the loop gets it.
  var onBatch: (_ partition: Int32, _ offsets: Range<Int64>) -> Void = { _, _ in }

  init(of machine: Machine) {
    self.machine = machine
    world = machine.world
    connection = Connection("receipts", of: machine)
  }

  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    try committedOffsets(
      SimTopics.receipts, partitions, group: SimTopics.group(.ordinary), world: world,
      connection: connection, machine: machine)
  }

  func logStart(of partition: Int32) throws(Failure) -> Int64 {
    let listed = world.call(
      Requests.offsets(SimTopics.receipts, [partition], timestamp: -2, isolation: 1),
      on: connection, timeoutMs: SimTimes.requestMs)?.listed.first
    guard let listed, listed.error == .none else {
      throw Failure(machine.isDead ? .fatal : .retriable, "the log's start is not told")
    }
    return listed.offset
  }

  func read(_ positions: [PartitionOffset]) throws(Failure) {
    if machine.isDead { throw Failure(.fatal, "killed") }
    self.positions = positions
  }

  func poll(
    _ onOutOfRange: (Int32) -> Void
  ) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    if machine.isDead { throw Failure(.fatal, "killed") }
    guard !positions.isEmpty else { return batch.take([]) }
    let wanted = positions.map {
      (topic: SimTopics.receipts, partition: $0.partition, offset: $0.offset)
    }
    let response = world.call(
      Requests.fetch(wanted, isolation: 1, maxWaitMs: 0, partitionBytes: 1_024), on: connection,
      timeoutMs: SimTimes.requestMs)
    if machine.isDead { throw Failure(.fatal, "killed") }
    var taken: [(partition: Int32, record: Record)] = []
    for (_, fetched) in response?.fetched ?? [] {
      guard let index = positions.firstIndex(where: { $0.partition == fetched.index }) else {
        continue
      }
      if fetched.error == .offsetOutOfRange { onOutOfRange(fetched.index) }
      guard fetched.error == .none else { continue }
      let (records, next) = fetched.committedRecords(from: positions[index].offset)
      let from = positions[index].offset
      positions[index].offset = next
      taken += records.map { (fetched.index, $0) }
      if next > from { onBatch(fetched.index, from..<next) }
    }
    return batch.take(taken)
  }

  func release() { batch.release() }
  func close() { batch.release() }
}

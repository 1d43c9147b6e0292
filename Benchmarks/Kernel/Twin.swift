import Gate
import Glibc
import Workload

/// The same kernel in C++ (`Benchmarks/KernelTwin`), loaded from a library that `scripts/bench-kernel`
/// builds: over the same table and candidates, in the same process.
final class Twin {
  private struct Record {
    var key: UnsafeRawPointer?
    var keyBytes: Int
    var value: UnsafeRawPointer?
    var valueBytes: Int
    var partition: Int64
  }

  private struct Output {
    var key: UnsafeRawPointer?
    var value: UnsafeRawPointer?
    var keyBytes: Int
    var valueBytes: Int
    var notificationID: UnsafeRawPointer?
    var notificationIDBytes: Int
    var outcome: UInt32
    var reason: UInt32
  }

  private typealias Make =
    @convention(c) (
      Int64, Int64, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>
    ) -> OpaquePointer
  private typealias AddZone =
    @convention(c) (
      OpaquePointer, UnsafePointer<CChar>, UnsafePointer<Int64>, UnsafePointer<Int64>, Int64
    ) -> Void
  private typealias Reserve = @convention(c) (OpaquePointer, Int64) -> Void
  private typealias Apply = @convention(c) (OpaquePointer, UnsafeRawPointer, Int64) -> Void
  private typealias Decide =
    @convention(c) (
      OpaquePointer, UnsafeRawPointer, Int64, UnsafeMutablePointer<Int64>
    ) -> UnsafeRawPointer

  private let library: UnsafeMutableRawPointer
  private let twin: OpaquePointer
  private let call: Decide
  private let records: [Record]

  init(path: String, of population: Population, _ documents: Documents, _ candidates: Candidates) {
    guard let library = dlopen(path, RTLD_NOW) else { fatalError(String(cString: dlerror())) }
    self.library = library
    func function<Function>(_ name: String, _: Function.Type) -> Function {
      guard let symbol = dlsym(library, name) else { fatalError("\(path) has no \(name)") }
      return unsafeBitCast(symbol, to: Function.self)
    }
    call = function("twin_decide", Decide.self)
    let twin = function("twin_new", Make.self)(
      nowMs, Int64(Candidates.partitionCount), Policy.builtIn.version, "workload",
      "\(GateVersion.text)")
    let addZone = function("twin_zone", AddZone.self)
    for name in Places.names {
      let (until, offsets) = Self.offsets(name, population.zones)
      addZone(twin, name, until, offsets, Int64(until.count))
    }
    function("twin_reserve", Reserve.self)(twin, Int64(population.users))
    let apply = function("twin_apply", Apply.self)
    for user in 0..<population.users {
      documents.with(user) { apply(twin, $0.baseAddress!, Int64($0.count)) }
    }
    self.twin = twin
    records = candidates.records.map {
      Record(
        key: $0.key?.baseAddress, keyBytes: $0.key!.count, value: $0.value?.baseAddress,
        valueBytes: $0.value!.count, partition: Int64($0.partition))
    }
  }

  /// From now on, for longer than any window is looked for.
  private static func offsets(_ name: String, _ zones: ZonePublisher) -> ([Int64], [Int64]) {
    var text = name
    let zone = text.withUTF8 { zones.intern(UnsafeRawBufferPointer($0)) }
    var until: [Int64] = []
    var offsets: [Int64] = []
    var seconds = nowMs / 1000
    let last = seconds + 400 * 86_400
    while seconds < last {
      let (offset, end) = zones.current.offsetInterval(zone, atSeconds: seconds)
      offsets.append(Int64(offset))
      until.append(end)
      seconds = end
    }
    return (until, offsets)
  }

  private func decide(_ range: Range<Int>) -> UnsafeBufferPointer<Output> {
    records.withUnsafeBufferPointer {
      var count: Int64 = 0
      let outputs = call(twin, $0.baseAddress! + range.lowerBound, Int64(range.count), &count)
      return UnsafeBufferPointer(
        start: outputs.assumingMemoryBound(to: Output.self), count: Int(count))
    }
  }

  /// Decides all records, as `Lanes.decide` does; the bytes of the outputs.
  @discardableResult
  func decideAll() -> Int {
    var bytes = 0
    for start in stride(from: 0, to: records.count, by: Engine.batchRecordsMax) {
      for output in decide(start..<min(start + Engine.batchRecordsMax, records.count)) {
        bytes += output.valueBytes
      }
    }
    return bytes
  }

  /// Ends the program where the two do not write the same bytes.
  func compare(_ lane: Lanes, _ candidates: Candidates) {
    for start in stride(from: 0, to: records.count, by: Engine.batchRecordsMax) {
      let range = start..<min(start + Engine.batchRecordsMax, records.count)
      let theirs = decide(range)
      candidates.records[range].withUnsafeBufferPointer {
        let ours = lane.engine.decide($0, nowMs: nowMs)
        let isSame =
          ours.count == theirs.count
          && zip(ours, theirs).allSatisfy { our, their in
            Self.same(our.value, their.value, their.valueBytes)
              && Self.same(our.key!, their.key, their.keyBytes)
              && Self.same(our.notificationID!, their.notificationID, their.notificationIDBytes)
              && UInt32(our.outcome.rawValue) == their.outcome
              && UInt32(our.reason.rawValue) == their.reason
          }
        guard isSame else { Self.tell(ours, theirs) }
      }
    }
  }

  private static func same(_ ours: UnsafeRawBufferPointer, _ at: UnsafeRawPointer?, _ bytes: Int)
    -> Bool
  {
    ours.elementsEqual(UnsafeRawBufferPointer(start: at, count: bytes))
  }

  private static func tell(
    _ ours: UnsafeBufferPointer<OutputRecord>, _ theirs: UnsafeBufferPointer<Output>
  ) -> Never {
    for (our, their) in zip(ours, theirs) where !same(our.value, their.value, their.valueBytes) {
      print(String(decoding: our.value, as: UTF8.self))
      let bytes = UnsafeRawBufferPointer(start: their.value, count: their.valueBytes)
      print(String(decoding: bytes, as: UTF8.self))
      break
    }
    fatalError("the twin decides otherwise: \(ours.count) and \(theirs.count) outputs")
  }
}

import Testing

@testable import Broker

/// A disk that stops taking anything after so many calls, the last one half: a process killed then.
private final class DyingDisk: Disk {
  let inner = MemoryDisk()
  var left: Int

  init(_ left: Int) { self.left = left }

  var isDead: Bool { left < 0 }

  private func take() -> Bool {
    left -= 1
    return left >= 0
  }

  func append(_ file: String, _ bytes: UnsafeRawBufferPointer) {
    if take() { return inner.append(file, bytes) }
    if left == -1 {
      inner.append(file, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
    }
  }

  func replace(_ file: String, _ bytes: [UnsafeRawBufferPointer]) {
    if take() { inner.replace(file, bytes) }
  }

  func truncate(_ file: String, to size: Int) { if take() { inner.truncate(file, to: size) } }
  func remove(_ file: String) { if take() { inner.remove(file) } }
  func files() -> [String] { inner.files() }
  func read(_ file: String) -> ByteSlice { inner.read(file) }
}

@Suite struct RecoveryTests {
  @Test func allIsThereAgain() {
    let disk = MemoryDisk()
    let sim = Sim(disk: disk)
    sim.topic(partitions: 2, ["retention.ms": "-1"])
    sim.produce("a", "b")
    var p = sim.producer("x")
    sim.add(p)
    sim.write("c", by: &p)
    let member = sim.joinAlone("g")
    #expect(sim.commit(1, group: "g", generation: 1, member: member.id) == .none)
    sim.addOffsets(p, group: "g")
    #expect(sim.commitOffset(2, by: p, group: "g") == .none)

    for _ in 0..<2 {
      sim.restart(disk)
      #expect(sim.read() == ["a", "b"])
      #expect(sim.core.topics["t"]?.partitions.count == 2)
      #expect(sim.core.topics["t"]?.settings == ["retention.ms": "-1"])
      // The group goes on in its generation, the transaction is open and its offset pending.
      #expect(sim.beat(member) == .none)
      #expect(sim.committed("g").error == .unstableOffsetCommit)
      #expect(sim.committed("g", stable: false).offset == 1)
    }
    #expect(sim.write("d", by: &p).error == .none)
    #expect(sim.end(p, commit: true) == .none)
    #expect(sim.read() == ["a", "b", "c", "d"])
    #expect(sim.committed("g").offset == 2)
    #expect(sim.producer("y").id > p.id)
    sim.restart(disk)
    #expect(sim.read() == ["a", "b", "c", "d"])
    #expect(sim.committed("g").offset == 2)
  }

  @Test func timeOutsGoOnAfterARestart() {
    let disk = MemoryDisk()
    let sim = Sim(disk: disk)
    sim.topic()
    var p = sim.producer("x", timeoutMs: 5_000)
    sim.add(p)
    sim.write("a", by: &p)
    let member = sim.joinAlone("g")
    sim.pass(3_000)
    sim.restart(disk)
    sim.pass(2_001)
    #expect(sim.end(p, commit: true) == .producerFenced)
    #expect(sim.fetch(committed: true).lastStableOffset == 2)
    sim.pass(8_000)
    #expect(sim.beat(member) == .unknownMemberId)
  }

  @Test func aDeletedTopicStaysDeleted() {
    let disk = MemoryDisk()
    let sim = Sim(disk: disk)
    sim.topic()
    sim.produce("old")
    let files = disk.content.filter { $0.key.hasPrefix("logs/") }
    var request = DeleteTopicsRequest()
    request.names = ["t"]
    _ = sim.call(.deleteTopics(request))
    // Killed after the journal was written and before the files went.
    disk.content.merge(files) { $1 }
    sim.restart(disk)
    #expect(sim.core.topics.isEmpty)
    sim.topic()
    #expect(sim.read(committed: false) == [])
    #expect(sim.produce("new").baseOffset == 0)
  }

  @Test func whateverIsTornOffTheEndTheRestIsThere() {
    let disk = MemoryDisk()
    let sim = Sim(disk: disk)
    sim.topic()
    for index in 0..<4 { sim.produce("\(index)") }
    let file = disk.content.keys.first { $0.hasPrefix("logs/") }!
    let whole = disk.content[file]!
    let one = whole.count / 4
    for cut in 0...whole.count {
      let copy = MemoryDisk(disk.content)
      copy.content[file] = Array(whole[..<cut])
      sim.restart(copy)
      #expect(sim.read() == (0..<cut / one).map(String.init), "cut at \(cut)")
      #expect(sim.produce("next").baseOffset == Int64(cut / one))
      sim.restart(copy)
      #expect(sim.read().last == "next")
    }
    for at in 61..<one where at != 12 {
      let copy = MemoryDisk(disk.content)
      copy.content[file]![2 * one + at] ^= 0x40
      sim.restart(copy)
      #expect(sim.read() == ["0", "1"], "spoilt at \(at)")
    }
  }

  /// Killed after each single write in turn: what was acknowledged is there, what was not is there
  /// whole or not at all, a transaction that was decided is carried out everywhere.
  @Test(arguments: [Int64(0), 5])
  func killedAtAnyWrite(markerDelay: Int64) {
    var finished = false
    var kill = 1
    while !finished {
      let disk = DyingDisk(kill)
      let sim = Sim({ $0.transactionMarkerDelayMs = markerDelay }, disk: disk)
      var acknowledged: [String] = []
      var decided = false
      func step(_ action: () -> Void) { if !disk.isDead { action() } }
      step { sim.topic(partitions: 2) }
      let made = !disk.isDead
      step { if sim.produce("plain").error == .none, !disk.isDead { acknowledged.append("plain") } }
      var p = TestProducer(txn: "x", id: 0, epoch: 0)
      step { p = sim.producer("x") }
      step { sim.add(p, [0, 1]) }
      step { sim.addOffsets(p, group: "g") }
      step { sim.write("left", by: &p, to: "t", 0) }
      p.sequence = 0
      step { sim.write("right", by: &p, to: "t", 1) }
      step { _ = sim.commitOffset(7, by: p, group: "g") }
      step {
        sim.end(p, commit: true)
        decided = !disk.isDead
      }
      step { sim.pass(10) }
      finished = !disk.isDead

      sim.restart(disk.inner)
      sim.pass(70_000)  // whatever was open is aborted by now
      guard sim.core.topics["t"] != nil else {
        #expect(!made)
        kill += 1
        continue
      }
      let left = sim.read("t", 0)
      let right = sim.read("t", 1)
      #expect(left.starts(with: acknowledged), "killed at \(kill)")
      #expect(left.contains("left") == right.contains("right"), "killed at \(kill)")
      let offset = sim.committed("g")
      #expect(offset.error == .none)
      #expect((offset.offset == 7) == right.contains("right"), "killed at \(kill)")
      if decided { #expect(right == ["right"], "killed at \(kill)") }
      for index in Int32(0)...1 {
        let fetched = sim.fetch("t", index, committed: true)
        #expect(fetched.lastStableOffset == fetched.highWatermark, "killed at \(kill)")
      }
      kill += 1
    }
    #expect(kill > 15)
  }

  @Test func killedAtAnyWriteOfACompaction() {
    var finished = false
    var kill = 2
    while !finished {
      let disk = DyingDisk(kill)
      let sim = Sim(disk: disk)
      sim.topic(
        "t",
        ["cleanup.policy": "compact", "segment.bytes": "200", "min.cleanable.dirty.ratio": "0"])
      var last: [String: String] = [:]
      for round in 0..<6 {
        for key in ["a", "b"] {
          sim.produce("\(key)\(round)", key: key)
          if !disk.isDead { last[key] = "\(key)\(round)" }
        }
      }
      sim.pass(2_000)
      finished = !disk.isDead
      sim.restart(disk.inner)
      var found: [String: String] = [:]
      var offsets: [Int64] = []
      if sim.core.topics["t"] != nil {
        for record in sim.records() {
          offsets.append(record.offset)
          found[String(decoding: record.key!, as: UTF8.self)] =
            String(decoding: record.value!, as: UTF8.self)
        }
      }
      for (key, value) in last { #expect(found[key]! >= value, "killed at \(kill)") }
      #expect(offsets == offsets.sorted() && Set(offsets).count == offsets.count)
      kill += 1
    }
    #expect(kill > 20)
  }
}

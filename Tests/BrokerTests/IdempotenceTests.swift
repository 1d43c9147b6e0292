import Testing

@testable import Broker

@Suite struct IdempotenceTests {
  private func ready() -> (Sim, TestProducer) {
    let sim = Sim()
    sim.topic()
    return (sim, sim.producer(nil))
  }

  @Test func aRepeatedBatchIsAnsweredAsTheFirstTime() {
    var (sim, p) = ready()
    for index in 0..<6 { sim.write("\(index)", by: &p) }
    for sequence in 0..<Int32(6) {
      var again = p
      again.sequence = sequence
      let result = sim.write("\(sequence)", by: &again)
      // The last five are remembered; what is older is out of order.
      if sequence == 0 {
        #expect(result.error == .outOfOrderSequenceNumber)
      } else {
        #expect(result.error == .none && result.baseOffset == Int64(sequence))
      }
    }
    #expect(sim.offset(at: -1).offset == 6)
  }

  @Test func aGapIsRefusedAndTheEndSequenceWraps() {
    var (sim, p) = ready()
    p.sequence = Int32.max - 1
    // A producer never seen here may start anywhere.
    #expect(sim.write("a", by: &p).error == .none)
    #expect(sim.write("b", "c", by: &p).error == .none)
    p.sequence = 1
    #expect(sim.write("d", by: &p).error == .none)
    p.sequence = 3
    #expect(sim.write("e", by: &p).error == .outOfOrderSequenceNumber)
  }

  @Test func anEpochStartsAtZeroAndEndsTheOneBefore() {
    var (sim, p) = ready()
    sim.write("a", by: &p)
    p.epoch = 1
    p.sequence = 1
    #expect(sim.write("b", by: &p).error == .outOfOrderSequenceNumber)
    p.sequence = 0
    #expect(sim.write("b", by: &p).error == .none)
    p.epoch = 0
    #expect(sim.write("c", by: &p).error == .invalidProducerEpoch)
  }

  @Test func batchesThatCannotBeAreRefused() {
    let (sim, _) = ready()
    let sound = sim.batch(["a", "b"])
    func with(_ offset: Int, _ value: UInt8, fixChecksum: Bool) -> [UInt8] {
      var bytes = sound
      bytes[offset] = value
      if fixChecksum {
        bytes.withUnsafeMutableBytes {
          let p = $0.baseAddress!
          p.setBig(BatchView(UnsafeRawPointer(p)).computeChecksum(), at: 17)
        }
      }
      return bytes
    }
    #expect(sim.produce(with(70, 0xFF, fixChecksum: false)).error == .corruptMessage)
    #expect(sim.produce(with(16, 1, fixChecksum: false)).error == .unsupportedForMessageFormat)
    #expect(sim.produce(with(60, 3, fixChecksum: true)).error == .invalidRecord)
    #expect(sim.produce(with(22, 0x20, fixChecksum: true)).error == .invalidRecord)
    #expect(sim.produce(with(22, 0x07, fixChecksum: true)).error == .unsupportedCompressionType)
    #expect(sim.produce(sound + sound).error == .invalidRecord)
    #expect(sim.produce(Array(sound.dropLast())).error == .corruptMessage)
    #expect(sim.produce([]).error == .corruptMessage)
    #expect(sim.produce(sound, to: "none").error == .unknownTopicOrPartition)
    #expect(sim.produce(sound, to: "t", 1).error == .unknownTopicOrPartition)
    #expect(sim.offset(at: -1).offset == 0)
  }
}

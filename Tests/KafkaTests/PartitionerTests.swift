import CKafka
import Gate
import Testing

@Suite struct PartitionerTests {
  /// librdkafka's answer, from its own function; topic and opaques are not looked at for a key that
  /// is there.
  static func librdkafka(_ key: [UInt8], _ count: Int32) -> Int32 {
    key.withUnsafeBytes {
      // An empty array has no address, and no address is a null key.
      let address = $0.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
      return rd_kafka_msg_partitioner_murmur2_random(nil, address, $0.count, count, nil, nil)
    }
  }

  static func ours(_ key: [UInt8], _ count: Int32) -> Int32 {
    key.withUnsafeBytes { Partitioner.partition(forKey: $0, count: count) }
  }

  @Test func everyLengthAndAlignment() {
    var random = SystemRandomNumberGenerator()
    for length in 0...140 {
      for skip in 0..<4 {
        let bytes = (0..<(length + skip)).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes.withUnsafeBytes { buffer in
          let key = UnsafeRawBufferPointer(rebasing: buffer[skip...])
          #expect(
            Partitioner.partition(forKey: key, count: 97) == Self.librdkafka(Array(key), 97),
            "\(Array(key))")
        }
      }
    }
  }

  @Test func randomKeysAndCounts() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let key = (0..<Int.random(in: 1...64, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let count = Int32.random(in: 1...1000, using: &random)
      #expect(Self.ours(key, count) == Self.librdkafka(key, count), "\(key) of \(count)")
    }
  }

  /// Published by the Java client's own tests, as hashes; here as what follows for one partition
  /// count.
  @Test(arguments: [
    ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
    ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
  ])
  func agreesWithTheJavaClient(key: String, hash: Int) {
    let positive = Int32(truncatingIfNeeded: hash) & 0x7FFF_FFFF
    #expect(Self.ours(Array(key.utf8), 1000) == positive % 1000)
  }
}

import Testing

@testable import Gate

/// Known answers. Key 00 01 … 0f, message 00 01 … of the length given. SipHash-2-4-128 as OpenSSL's
/// `openssl mac … SIPHASH` gives it; 1-3 from an implementation in Python that agrees with OpenSSL's
/// on 2-4.
@Suite struct SipHashTests {
  private typealias Row = (length: Int, a: UInt64, b: UInt64, c: UInt64, d: UInt64)
  private static let rows: [Row] = [
    (0, 0xe6a8_25ba_047f_81a3, 0x9302_55c7_1472_f66d, 0xbea5_8827_b2bc_7ee7, 0x0130_30dd_6adb_62fd),
    (1, 0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634, 0xa8ed_d360_0437_6ffc, 0x63f0_2f2b_cc73_055e),
    (7, 0x53c1_dbd8_beeb_f1a1, 0x3982_f01f_a64a_b8c0, 0xc3e0_aaf2_23b9_8410, 0x77ab_4808_c82e_2fa6),
    (8, 0x61f5_5862_baa9_623b, 0xb497_14f3_64e2_830f, 0xb4da_e3d5_e1fe_12aa, 0x99c7_f935_ab16_4f72),
    (9, 0xabba_d90a_0699_4426, 0xed71_6dbb_028b_7fc4, 0x9439_f32c_04b8_dd81, 0x427c_1394_000e_72f4),
    (
      15, 0x11a8_b033_99e9_9354, 0xd9c3_cf97_0fec_087e, 0x6c52_bdb2_0555_7ec1, 0x0901_7e1e_eccd_2129
    ),
    (
      16, 0xbb54_b067_caa4_e26e, 0x7705_2385_bf15_33fd, 0xeb8e_5115_57d9_a8d0, 0x9317_9e3d_f8b0_13b5
    ),
    (
      36, 0x4648_c429_1f7d_c43d, 0x1167_4f90_ed76_9e1e, 0xda8e_7102_f010_a137, 0x40f1_53e4_9e3f_4bd2
    ),
    (
      63, 0x4a83_502f_77d1_5051, 0x7cbd_3f97_9a06_3e50, 0x6f42_fe4e_e300_584c, 0xad60_52a7_0a6b_9f07
    ),
  ]

  @Test func knownAnswers() {
    let sip = SipHash(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
    for row in Self.rows {
      let message = (0..<row.length).map { UInt8($0) }
      message.withUnsafeBytes {
        let known = sip.hash($0, compression: 2, finalization: 4)
        #expect(known == UserHash(first: row.a, second: row.b), "2-4 of \(row.length)")
        #expect(sip.hash($0) == UserHash(first: row.c, second: row.d), "1-3 of \(row.length)")
      }
    }
  }
}

/// MurmurHash2 as Kafka's clients have it: four of the values are those that its Java client's own
/// tests expect, all were computed by an implementation in Python.
@Suite struct PartitionerTests {
  private static let rows: [(String, UInt32, Int32, Int32)] = [
    ("", 0x106e_08d9, 1, 9), ("a", 0xa2d0_b27c, 4, 4), ("21", 0xc5f2_f8ec, 4, 0),
    ("foobar", 0xd0e4_7bbe, 6, 6), ("a-little-bit-long-string", 0xc53b_1da0, 0, 8),
    ("a-little-bit-longer-string", 0xa768_c9c3, 3, 11),
    ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", 0xfc7d_49cd, 5, 5),
    ("abc", 0x1c94_221b, 3, 3), ("u-1", 0xd24f_db77, 7, 7), ("é😀", 0x597a_eed5, 5, 5),
  ]

  @Test func knownAnswers() {
    for (key, hash, ofEight, ofTwelve) in Self.rows {
      withBytes(key) {
        #expect(Partitioner.murmur2($0) == hash, "\(key)")
        #expect(Partitioner.partition(forKey: $0, count: 8) == ofEight, "\(key)")
        #expect(Partitioner.partition(forKey: $0, count: 12) == ofTwelve, "\(key)")
        #expect(Partitioner.partition(forKey: $0, count: 1) == 0)
      }
    }
  }
}

import Gate
import Testing

/// Ids of the self-test begin with its prefix and with nothing that only looks like it.
@Test(arguments: [
  ("sendgate-selftest.active", true), ("sendgate-selftest.", true),
  ("sendgate-selftest.\u{0}\u{1F600}", true), ("sendgate-selftest", false), ("", false),
  ("Sendgate-selftest.active", false), ("sendgate-selftest-active", false),
  (" sendgate-selftest.active", false), ("u-sendgate-selftest.active", false), ("s", false),
  ("sendgate\u{2010}selftest.active", false),
])
func reservedIdsAreToldByTheirBeginning(id: String, isReserved: Bool) {
  #expect(SelfTestUser.isReserved(id) == isReserved)
  let bytes = Array(id.utf8)
  bytes.withUnsafeBytes { #expect(SelfTestUser.isReserved($0) == isReserved) }
}

@Test func nobodyIsNotReserved() {
  #expect(!SelfTestUser.isReserved(nil))
  #expect(!SelfTestUser.isReserved(UnsafeRawBufferPointer(start: nil, count: 0)))
}

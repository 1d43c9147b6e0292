import Glibc
import Telemetry
import Testing

@Test func knownInstantsAreSpelledRight() {
  for (ms, text) in [
    (0, "1970-01-01T00:00:00.000Z"),
    (-1, "1969-12-31T23:59:59.999Z"),
    (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (1_773_095_400_000, "2026-03-09T22:30:00.000Z"),
    (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ] as [(Int64, String)] {
    #expect(RFC3339.text(ms: ms) == text)
  }
}

/// Every day from 1900 to 2200 against the C library's calendar.
@Test func everyDayAgreesWithTheCLibrary() {
  for day in -25_567...84_006 {
    let seconds = Int64(day) * 86_400 + 4521
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var expected = [CChar](repeating: 0, count: 32)
    strftime(&expected, 32, "%Y-%m-%dT%H:%M:%S.678Z", &parts)
    let text = RFC3339.text(ms: seconds * 1000 + 678)
    let agrees = text.withCString { strcmp($0, expected) == 0 }
    #expect(agrees, "\(text)")
  }
}

@Test func theMonotonicClockDoesNotGoBack() {
  var last = SystemTime.monotonicNs()
  for _ in 0..<10_000 {
    let now = SystemTime.monotonicNs()
    #expect(now >= last)
    last = now
  }
  // 2026-01-01: a clock in seconds or microseconds would be far off.
  #expect(SystemTime.wallClockMs() > 1_767_225_600_000)
  #expect(SystemTime.wallClockMs() < 7_258_118_400_000)
}

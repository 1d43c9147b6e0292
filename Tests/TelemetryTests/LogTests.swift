import Synchronization
import Telemetry
import Testing

/// A logger into memory with a hand-cranked clock.
private final class Recorder: Sendable {
  private let written = Mutex<[String]>([])
  private let clockMs = Mutex<Int64>(1_773_095_400_000)

  func logger(_ format: LogFormat, levelMin: LogLevel = .info) -> Logger {
    Logger(
      format: format, levelMin: levelMin, nowMs: { [self] in clockMs.withLock { $0 } },
      sink: { [self] line in
        let text = String(decoding: line, as: UTF8.self)
        written.withLock { $0.append(text) }
      })
  }

  func advance(ms: Int64) { clockMs.withLock { $0 += ms } }
  var lines: [String] { written.withLock { $0 } }
}

@Test func aJSONLineHasTimeLevelMessageAndFieldsInOrder() {
  let recorder = Recorder()
  let log = recorder.logger(.json, levelMin: .debug)
  log.info(
    "Preferences are ready.",
    ["preferences.users": 1_000_000, "ready": true, "took_seconds": 1.5, "kafka.topic": "p.state"])
  log.warning("Slow.")
  log.error("Bad.", ["ratio": .real(.nan)])
  log.debug("Detail.", ["count": .integer(UInt64.max)])
  let time = #""time":"2026-03-09T22:30:00.000Z""#
  #expect(
    recorder.lines == [
      #"{\#(time),"level":"info","message":"Preferences are ready.","preferences.users":1000000,"ready":true,"took_seconds":1.5,"kafka.topic":"p.state"}"#
        + "\n",
      #"{\#(time),"level":"warning","message":"Slow."}"# + "\n",
      #"{\#(time),"level":"error","message":"Bad.","ratio":"nan"}"# + "\n",
      #"{\#(time),"level":"debug","message":"Detail.","count":9223372036854775807}"# + "\n",
    ])
}

@Test func whatIsBelowTheLevelIsNotWritten() {
  let recorder = Recorder()
  let log = recorder.logger(.json, levelMin: .warning)
  log.debug("d")
  log.info("i")
  log.warning("w")
  #expect(recorder.lines.count == 1)
}

/// Control characters of both sets, quotes and line ends: neither form lets a value start a line of
/// its own or reach the terminal as a command.
@Test func hostileValuesStayInsideTheirLine() {
  let hostile = "a\"b\\c\nd\r\te\u{1B}[2Jf\u{0}g\u{7F}h\u{9B}31mi\u{2028}ü😀"
  let recorder = Recorder()
  recorder.logger(.json).info("M", ["k": .string(hostile)])
  recorder.logger(.terminal(colour: false)).info("M", ["k": .string(hostile)])
  let escaped =
    #""a\"b\\c\nd\r\te\u001b[2Jf\u0000g\u007fh\u009b31mi"# + "\u{2028}ü😀\""
  #expect(
    recorder.lines == [
      #"{"time":"2026-03-09T22:30:00.000Z","level":"info","message":"M","k":"# + escaped + "}\n",
      "22:30:00.000 info  M  k=" + escaped + "\n",
    ])
}

@Test func aLongValueIsCutBetweenCharacters() {
  let recorder = Recorder()
  let log = recorder.logger(.json)
  log.info("M", ["k": .string(String(repeating: "a", count: 1024))])
  log.info("M", ["k": .string(String(repeating: "a", count: 1023) + "üü")])
  #expect(recorder.lines[0].hasSuffix(String(repeating: "a", count: 1024) + "\"}\n"))
  #expect(recorder.lines[1].hasSuffix(String(repeating: "a", count: 1023) + "…\"}\n"))
}

@Test func theTerminalFormIsForReading() {
  let recorder = Recorder()
  recorder.logger(.terminal(colour: false)).warning(
    "Waiting for the broker.",
    ["kafka.bootstrap": "localhost:9092", "why": "no answer", "empty": "", "n": 3, "ok": false])
  recorder.logger(.terminal(colour: true)).error("Fenced.", ["seconds": 0.5])
  #expect(
    recorder.lines == [
      "22:30:00.000 warn  Waiting for the broker.  kafka.bootstrap=localhost:9092"
        + "  why=\"no answer\"  empty=\"\"  n=3  ok=false\n",
      "22:30:00.000 \u{1B}[31merror\u{1B}[0m Fenced.  seconds=0.5\n",
    ])
}

@Test func repeatsAreHeldBackAndCounted() {
  let recorder = Recorder()
  let log = recorder.logger(.terminal(colour: false))
  for _ in 0..<120 { log.info("Again.") }
  #expect(recorder.lines.count == 20)
  // Another message is not held back by the first one's repeats.
  log.info("Other.")
  #expect(recorder.lines.last == "22:30:00.000 info  Other.\n")
  // The next window tells what was lost.
  recorder.advance(ms: 10_000)
  log.info("Again.")
  #expect(recorder.lines.last == "22:30:10.000 info  Again.  (100 more like this suppressed)\n")
  #expect(recorder.lines.count == 22)
}

@Test func suppressedRepeatsAreToldEvenIfTheMessageNeverComesAgain() {
  let recorder = Recorder()
  let log = recorder.logger(.json)
  for _ in 0..<25 { log.error("Gone.") }
  recorder.advance(ms: 10_000)
  log.info("Other.")
  let told =
    #""level":"error","message":"Repeats of a message were suppressed.","log.message":"Gone.","log.suppressed":5}"#
  #expect(recorder.lines.last?.hasSuffix(told + "\n") == true)
  for _ in 0..<25 { log.error("Gone.") }
  let before = recorder.lines.count
  log.flush()
  #expect(recorder.lines.count == before + 1)
  #expect(recorder.lines.last?.hasSuffix(told + "\n") == true)
  log.flush()
  #expect(recorder.lines.count == before + 1)
}

@Test func aClockSetBackDoesNotSilenceAMessage() {
  let recorder = Recorder()
  let log = recorder.logger(.json)
  for _ in 0..<20 { log.info("M") }
  recorder.advance(ms: -3_600_000)
  log.info("M")
  #expect(recorder.lines.count == 21)
}

/// Many threads, whole lines: each line arrives in one piece, none is lost.
@Test func linesFromManyThreadsStayWhole() async {
  let recorder = Recorder()
  let log = recorder.logger(.terminal(colour: false))
  await withTaskGroup { group in
    for task in 0..<8 {
      group.addTask {
        for i in 0..<200 { log.info("M", ["task": .integer(task), "i": .integer(i)]) }
      }
    }
  }
  log.flush()
  #expect(recorder.lines.count == 21)
  for line in recorder.lines { #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n")) }
  #expect(recorder.lines.last?.contains("(1580 more") == true)
}

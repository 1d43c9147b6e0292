import Testing

@testable import sendgate

@Suite struct SimulateTests {
  /// What would be passed over is refused: a sweep prints no history, and faults are of one seed.
  @Test(arguments: [["--seed", "3"], ["--faults", "0"], ["--history"]])
  func refusesWhatIsOfOneSeedBesideSeveral(_ words: [String]) {
    let done = dispatch(["simulate", "--seeds", "1..2", "--steps", "10"] + words)
    #expect(done.code == ExitCode.usage)
    #expect(done.error.contains("\(words[0]) is of one seed"), "\(done.error)")
  }
}

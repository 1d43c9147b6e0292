import Testing

@testable import Simulation

@Suite(.serialized) struct SimulationTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func aWorldKeepsItsPromises(seed: UInt64) {
    let outcome = Simulation.run(Simulation.Options(seed: seed, steps: 3_000))
    #expect(outcome.broken == nil, "seed \(seed): \(outcome.broken?.how ?? "")")
    #expect(outcome.steps >= 3_000)
  }

  @Test(arguments: [3, 17, 101] as [UInt64])
  func theSameSeedIsTheSameRun(seed: UInt64) {
    let runs = (0..<2).map { _ in
      Simulation.run(Simulation.Options(seed: seed, steps: 4_000, keepsHistory: true))
    }
    #expect(runs[0].hash == runs[1].hash)
    #expect(runs[0].history == runs[1].history)
    // Looking at it changes nothing.
    let unseen = Simulation.run(Simulation.Options(seed: seed, steps: 4_000))
    #expect(unseen.hash == runs[0].hash)
  }

  @Test func anotherSeedIsAnotherRun() {
    let hashes = (1...20 as ClosedRange<UInt64>).map {
      Simulation.run(Simulation.Options(seed: $0, steps: 500)).hash
    }
    #expect(Set(hashes).count == hashes.count)
  }
}

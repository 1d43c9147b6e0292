import Testing

@testable import Simulation

/// What the simulation has found in the gate, by the history that led there. Each was broken once.
@Suite(.serialized) struct FoundBySeedTests {
  struct Found: Sendable {
    var seed: UInt64
    var steps: Int
    var faultSteps: Int
    var faults: Set<Int>
  }

  /// While preferences were out of reach a user was erased and came back: a hold was counted against
  /// the cap, and did not leave.
  @Test(arguments: [Found(seed: 1436, steps: 5_374, faultSteps: 6_000, faults: [0, 2, 3])])
  func staysMended(_ found: Found) {
    let outcome = Simulation.run(
      Simulation.Options(
        seed: found.seed, steps: found.steps, faultSteps: found.faultSteps, faults: found.faults))
    #expect(outcome.broken == nil, "\(outcome.broken?.how ?? "")")
  }
}

import Glibc
import Simulation

/// `sendgate simulate`: the whole gate in a world made from one seed.
enum SimulateCommand {
  static let command = Command(
    name: "simulate",
    summary: "run the whole gate in a simulated world, from a seed, and check what it promises",
    details: """
      Prints a hash of the run, the same for the same seed everywhere. A broken promise ends it with
      code 1.
      """,
    flags: [
      .integer("seed", "N", 0...Int.max, "the world's seed (1)"),
      .text("seeds", "A..B", "every seed from A to B, both included"),
      .integer("steps", "N", 1...10_000_000, "how many things happen before peace is made (2000)"),
      .toggle("history", "print what happened, in order"),
    ],
    run: { (arguments) throws(CommandFailure) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let steps = arguments.integer("steps") ?? 2_000
    var code = ExitCode.ok
    for seed in try seeds(arguments) {
      let outcome = Simulation.run(
        Simulation.Options(
          seed: seed, steps: steps, keepsHistory: arguments.has("history")))
      for line in outcome.history { print(line) }
      print(
        "seed \(seed): \(outcome.steps) steps, hash \(String(outcome.hash, radix: 16)), \(outcome.summary)")
      if let broken = outcome.broken {
        print("  BROKEN \(broken.rule): \(broken.how)")
        code = 1
      }
    }
    return code
  }

  private static func print(_ line: String) { Process.print(line + "\n", to: STDOUT_FILENO) }

  private static func seeds(
    _ arguments: ParsedArguments
  ) throws(CommandFailure) -> ClosedRange<UInt64> {
    guard let text = arguments.text("seeds") else {
      let seed = UInt64(arguments.integer("seed") ?? 1)
      return seed...seed
    }
    let ends = text.split(separator: ".", omittingEmptySubsequences: true)
    guard text.contains(".."), ends.count == 2, let first = UInt64(ends[0]),
      let last = UInt64(ends[1]), first <= last
    else { throw .usage("--seeds: write A..B, such as 1..100") }
    return first...last
  }
}

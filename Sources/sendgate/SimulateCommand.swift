import Glibc
import Simulation

/// `sendgate simulate`: the whole gate in a world made from one seed.
enum SimulateCommand {
  static let command = Command(
    name: "simulate",
    summary: "run the whole gate in a simulated world, from a seed, and check what it promises",
    details: """
      Clients, network, clocks and faults come from the seed; the broker is the one of `sendgate broker`,
      in simulated time. Prints a hash of the run, the same for the same seed everywhere. Where a promise
      is broken it prints the shortest history found that leads there, and ends with code 1.
      """,
    flags: [
      .integer("seed", "N", 0...Int.max, "the world's seed (1)"),
      .text("seeds", "A..B", "every seed from A to B, both included; prints what is broken alone"),
      .integer("steps", "N", 1...10_000_000, "how many things happen before peace is made (2000)"),
      .integer(
        "fault-steps", "N", 1...10_000_000,
        "before which step faults happen (as many as --steps); a shortened history names it"),
      .text("faults", "LIST", "of the seed's faults these alone, such as 0,3; none: no fault"),
      .toggle("history", "print what happens, in order"),
      .toggle("first", "end at the first broken promise"),
      .toggle("no-shrink", "do not look for a shorter history"),
    ] + plantFlags,
    run: { (arguments) throws(CommandFailure) in try run(arguments) })

  /// In a build that has wrong gates to find.
  private static var plantFlags: [Flag] {
    let bugs = Simulation.plantedBugs
    return bugs.isEmpty ? [] : [.choice("plant", bugs, "run a gate that is wrong in this way")]
  }

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    var options = Simulation.Options(seed: 1, steps: arguments.integer("steps") ?? 2_000)
    options.faultSteps = arguments.integer("fault-steps") ?? options.steps
    options.faults = try faults(arguments)
    if !Simulation.plantedBugs.isEmpty { options.plantedBug = arguments.text("plant") }
    if arguments.text("seeds") == nil {
      options.seed = UInt64(arguments.integer("seed") ?? 1)
      options.keepsHistory = arguments.has("history")
      return one(options, arguments)
    }
    for flag in ["seed", "faults", "history"] where arguments.has(flag) {
      throw .usage("--\(flag) is of one seed: it says nothing beside --seeds")
    }
    return try sweep(options, arguments)
  }

  private static func one(_ options: Simulation.Options, _ arguments: ParsedArguments) -> Int32 {
    let outcome = Simulation.run(options)
    for line in outcome.history { print(line) }
    print(words(outcome))
    guard outcome.broken != nil else { return ExitCode.ok }
    tell(outcome, options, arguments)
    return 1
  }

  private static func sweep(
    _ options: Simulation.Options, _ arguments: ParsedArguments
  ) throws(CommandFailure) -> Int32 {
    var options = options
    var (broken, steps, seeds) = (0, 0, 0)
    for seed in try self.seeds(arguments) {
      options.seed = seed
      let outcome = Simulation.run(options)
      seeds += 1
      steps += outcome.steps
      guard outcome.broken != nil else { continue }
      broken += 1
      print(words(outcome))
      tell(outcome, options, arguments)
      if arguments.has("first") { break }
    }
    print("\(seeds) seeds, \(steps) steps, \(broken) broken")
    return broken == 0 ? ExitCode.ok : 1
  }

  private static func words(_ outcome: Simulation.Outcome) -> String {
    "seed \(outcome.seed): \(outcome.steps) steps, \(outcome.faults.count) faults, "
      + "\(outcome.summary), hash \(String(outcome.hash, radix: 16))"
  }

  /// What is broken, and the way there.
  private static func tell(
    _ outcome: Simulation.Outcome, _ options: Simulation.Options, _ arguments: ParsedArguments
  ) {
    print("BROKEN \(outcome.broken!.rule): \(outcome.broken!.how)")
    guard !arguments.has("no-shrink") else { return }
    let (short, found) = Simulation.shrink(options)
    let faults = (short.faults ?? []).sorted().map(String.init).joined(separator: ",")
    let command =
      "sendgate simulate --seed \(short.seed) --steps \(short.steps) "
      + "--fault-steps \(short.faultSteps) --faults \(faults.isEmpty ? "none" : faults)"
      + (short.plantedBug.map { " --plant \($0)" } ?? "")
    print("the shortest way there that was found, \(found.faults.count) faults: \(command)")
    for line in found.history { print(line) }
    print("BROKEN \(found.broken!.rule): \(found.broken!.how)")
  }

  private static func print(_ line: String) { Process.print(line + "\n", to: STDOUT_FILENO) }

  // MARK: Arguments

  private static func seeds(
    _ arguments: ParsedArguments
  ) throws(CommandFailure) -> ClosedRange<UInt64> {
    let ends = arguments.text("seeds")!.split(separator: ".", omittingEmptySubsequences: false)
    guard ends.count == 3, ends[1].isEmpty, let first = UInt64(ends[0]), let last = UInt64(ends[2]),
      first <= last
    else { throw .usage("--seeds: write A..B, such as 1..100") }
    return first...last
  }

  private static func faults(_ arguments: ParsedArguments) throws(CommandFailure) -> Set<Int>? {
    guard let text = arguments.text("faults") else { return nil }
    if text == "none" { return [] }
    var numbers: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let number = Int(part), number >= 0 else {
        throw .usage("--faults: write numbers such as 0,3, or none")
      }
      numbers.insert(number)
    }
    return numbers
  }
}

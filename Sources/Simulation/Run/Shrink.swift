extension Simulation {
  /// The shortest history found in which the same promise is broken: fewer faults, then fewer steps. Each
  /// try is a run of its own.
  public static func shrink(_ options: Options) -> (options: Options, outcome: Outcome) {
    var best = options
    best.keepsHistory = false
    var outcome = run(best)
    guard let rule = outcome.broken?.rule else { return (best, outcome) }

    func isShorter(_ candidate: Options) -> Bool {
      let tried = run(candidate)
      guard tried.broken?.rule == rule else { return false }
      (best, outcome) = (candidate, tried)
      return true
    }
    best.faults = Set(outcome.faults.map(\.number))
    var isSmaller = true
    while isSmaller {
      isSmaller = dropFaults(best, isShorter) { best }
      if dropSteps(best, outcome, isShorter) { isSmaller = true }
    }
    best.keepsHistory = true
    return (best, run(best))
  }

  private static func dropFaults(
    _ options: Options, _ isShorter: (Options) -> Bool, _ best: () -> Options
  ) -> Bool {
    guard let all = options.faults, !all.isEmpty else { return false }
    var fewer = options
    fewer.faults = []
    if isShorter(fewer) { return true }
    var hasDropped = false
    for number in all.sorted() {
      var fewer = best()
      fewer.faults!.remove(number)
      if isShorter(fewer) { hasDropped = true }
    }
    return hasDropped
  }

  /// To the step at which it shows; where it shows in the peace afterwards, by halves.
  private static func dropSteps(
    _ options: Options, _ outcome: Outcome, _ isShorter: (Options) -> Bool
  ) -> Bool {
    var fewer = options
    if outcome.brokenAtStep < options.steps {
      fewer.steps = outcome.brokenAtStep
      return isShorter(fewer)
    }
    var (low, high) = (0, options.steps)
    var hasDropped = false
    while high - low > 1 {
      fewer.steps = (low + high) / 2
      if isShorter(fewer) {
        high = fewer.steps
        hasDropped = true
      } else {
        low = fewer.steps
      }
    }
    return hasDropped
  }
}

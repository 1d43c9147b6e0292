import Preferences

/// Changes under `If-Match` (RFC 9110, section 13.1.1): the version is compared where the change is
/// written, so that of two who read the same version one is told.
enum Conditional {
  /// More than this many other changes of one user between two looks are not waited out.
  private static let triesMax = 8

  static func apply(
    _ event: PreferenceEvent, _ condition: EntityTag.Condition?, _ service: PreferenceService
  ) throws(Problem) -> EventAnswer {
    // First the version that was named, without a look at the present one: whoever repeats an event
    // whose answer got lost names the version from before it, and is answered as then.
    var version = condition.map(firstVersion)
    for _ in 0..<triesMax {
      switch try Failures.named({ () throws(StoreError) in
        try service.apply([event], ifVersion: version)
      }) {
      case .answers(let answers): return answers[0]
      case .versionDiffers(let current):
        guard let condition, condition.matchesStrongly(version: current > 0 ? current : nil) else {
          throw Problem(
            412, "version_changed", "the user's version is \(current); read again, then decide")
        }
        version = current
      }
    }
    throw Failures.busy("the user's preferences change too fast")
  }

  /// The first version that the condition names; none that exists where it names no certain one.
  private static func firstVersion(_ condition: EntityTag.Condition) -> Int64 {
    guard case .tags(let tags) = condition else { return -1 }
    return tags.lazy.compactMap { tag -> Int64? in
      // `"017"` is no version's tag.
      guard !tag.isWeak, let version = Int64(tag.text), version > 0, "\(version)" == tag.text
      else { return nil }
      return version
    }.first ?? -1
  }
}

import Preferences

/// Failures of the store as answers.
enum Failures {
  /// Seconds after which it is worth to come again.
  static let retryAfter = HTTPField("Retry-After", "1")

  static func named<R>(_ body: () throws(StoreError) -> R) throws(Problem) -> R {
    do throws(StoreError) {
      return try body()
    } catch {
      throw problem(error)
    }
  }

  static func busy(_ detail: String) -> Problem {
    Problem(503, "overloaded", detail, headers: [retryAfter])
  }

  /// What the store says of its files is for the log, not for clients.
  private static func problem(_ error: StoreError) -> Problem {
    switch error {
    case .overloaded: return busy("too many changes wait to be written")
    case .closed: return Problem(503, "ending", "the service is ending", headers: [retryAfter])
    case .newerSchema, .olderSchema, .sql:
      var problem = Problem(
        503, "store_unavailable",
        "the store cannot do it now; it may have been kept all the same: send the same event again",
        headers: [retryAfter])
      problem.cause = "\(error)"
      return problem
    }
  }
}

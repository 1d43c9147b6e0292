/// Why the store could not answer. Nothing was changed.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Too many requests wait already: come again.
  case overloaded(waiting: Int)
  /// The service is ending.
  case closed
  /// The database was made by a newer release.
  case newerSchema(found: Int64, known: Int64, place: String)
  /// The database was opened for reading alone, and an older release made it.
  case olderSchema(found: Int64, known: Int64, place: String)
  case sql(SQLError)

  public var description: String {
    switch self {
    case .overloaded(let waiting):
      "the store has \(waiting) requests waiting and takes no more; try again later"
    case .closed: "the store is closed"
    case .newerSchema(let found, let known, let place):
      "\(place): its schema is version \(found), this release knows up to \(known); start the "
        + "release that made it, or a newer one"
    case .olderSchema(let found, let known, let place):
      "\(place): its schema is version \(found), this release needs \(known); start sendgate serve of "
        + "this release once, which brings it up to date"
    case .sql(let error): "\(error)"
    }
  }
}

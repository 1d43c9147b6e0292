/// Where evidence is kept; beside the preferences, and never in the same file: what is written here by
/// the ten thousand must not stand before a preference's commit.
public enum EvidenceDatabase: Sendable, Equatable {
  /// A file; made where there is none, its folder is not.
  case sqlite(path: String)

  /// For messages and logs.
  public var place: String {
    switch self {
    case .sqlite(let path): path
    }
  }
}

/// How the index works. The defaults suit one machine.
public struct EvidenceSettings: Sendable {
  /// Connections that read; as many questions are answered at once.
  public var readersCount = 4
  /// For how long a record is kept, by its own instant: 90 days.
  public var retentionMs: Int64 = 90 * 86_400_000
  /// For how long counts by hour are kept; they name nobody: 400 days.
  public var countsKeptMs: Int64 = 400 * 86_400_000
  /// For how long it is known that a user was erased, so that what was on its way is not kept when it
  /// comes: 30 days.
  public var erasuresKeptMs: Int64 = 30 * 86_400_000
  /// Records that share a commit, and for how long the first of them may wait, milliseconds.
  public var batchRecordsMax = 20_000
  public var batchAgeMsMax: Int64 = 200
  /// How often what is old is looked for, milliseconds.
  public var upkeepIntervalMs: Int64 = 60_000
  /// Records that are taken away in one commit.
  public var retentionSlice = 2_000

  public init() {}
}

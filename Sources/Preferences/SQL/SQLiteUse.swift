/// What a SQLite file is for.
package struct SQLiteUse: Sendable {
  /// So that the database of another application is not taken for ours.
  package var applicationID: Int64
  /// Whether a commit that was answered must survive a power cut. Where not, the log is on the disk at
  /// checkpoints alone: a power cut takes the newest commits, whole ones, and leaves those before.
  package var isDurable: Bool
  /// Pages kept in memory, by each connection.
  package var cacheKiB: Int
  /// The log is copied into the file when it has so many pages.
  package var checkpointPages: Int

  /// "sgPF".
  package static let preferences = SQLiteUse(
    applicationID: 0x7367_5046, isDurable: true, cacheKiB: 16_384,
    checkpointPages: 1_000)
  /// "sgEV": what is lost is read from Kafka again. Pages of indices are written in no order: the more
  /// of them stay in memory and share a checkpoint, the fewer times each is written.
  package static let evidence = SQLiteUse(
    applicationID: 0x7367_4556, isDurable: false, cacheKiB: 131_072,
    checkpointPages: 16_384)
}

import Evidence

/// What is set of the evidence index: for `serve`, and for the commands that look into it.
struct EvidenceConfiguration: Sendable {
  /// Nil: there is no index.
  let database: EvidenceDatabase?
  let index: EvidenceSettings

  /// What is wrong is added to `problems`.
  init(_ settings: Settings, problems: inout [String]) {
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    let file = text("evidence.database")
    if !file.isEmpty, file == text("serve.database.file") {
      problems.append(
        "\(settings.describe("evidence.database")) is serve.database.file: evidence is kept in a"
          + " file of its own, so that no change of preferences waits for it")
    }
    database = file.isEmpty ? nil : .sqlite(path: file)
    let dayMs: Int64 = 86_400_000
    var index = EvidenceSettings()
    index.retentionMs = Int64(text("evidence.retention.days"))! * dayMs
    index.countsKeptMs = Int64(text("evidence.counts.kept.days"))! * dayMs
    index.erasuresKeptMs = Int64(text("serve.erasures.kept.days"))! * dayMs
    self.index = index
  }
}

import Gate
import Preferences

/// What whoever opens the store needs: `serve`, and the commands that look into it.
struct StoreConfiguration: Sendable {
  let database: PreferenceDatabase
  let links: SettingsLinks
  let store: StoreSettings
  /// Nil: the built-in policy.
  let policyFile: String?

  /// What is missing or wrong is added to `problems`; then there is none.
  init?(_ settings: Settings, problems: inout [String]) {
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    let database = Self.database(settings, problems: &problems)
    let package = text("serve.android.package")
    let links = SettingsLinks(androidPackage: package)
    if package.isEmpty {
      problems.append(
        "serve.android.package is missing: the app's package name, which the link to its"
          + " notification settings needs, as com.example.app")
    } else if links == nil {
      problems.append(
        "\(settings.describe("serve.android.package")): wants a package name, as com.example.app")
    }
    guard let database, let links else { return nil }
    self.database = database
    self.links = links
    policyFile = text("policy.file")
    let dayMs: Int64 = 86_400_000
    var store = StoreSettings()
    store.readersCount = Int(text("serve.readers"))!
    store.eventIDsKeptMs = Int64(text("serve.event_ids.kept.days"))! * dayMs
    store.erasuresKeptMs = Int64(text("serve.erasures.kept.days"))! * dayMs
    self.store = store
  }

  private static func database(
    _ settings: Settings, problems: inout [String]
  ) -> PreferenceDatabase? {
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    let file = text("serve.database.file")
    let server = text("serve.database.postgres")
    switch (file.isEmpty, server.isEmpty) {
    case (true, true):
      problems.append(
        "serve.database.file is missing: where preferences are kept; or serve.database.postgres, where"
          + " a server keeps them")
      return nil
    case (false, false):
      problems.append(
        "\(settings.describe("serve.database.file")) and"
          + " \(settings.describe("serve.database.postgres")): preferences are kept in one of the two"
      )
      return nil
    case (false, true):
      return .sqlite(path: file)
    case (true, false):
      do throws(PostgresParameters.Fault) {
        return .postgres(
          try PostgresParameters(server, answerMsMax: Int32(text("serve.database.timeout.ms"))!))
      } catch {
        problems.append("\(settings.describe("serve.database.postgres")) \(error)")
        return nil
      }
    }
  }
}

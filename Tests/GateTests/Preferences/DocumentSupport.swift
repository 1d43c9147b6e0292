@testable import Gate

/// A document with one device, members of each replaced, added or (`missing`) left out.
func documentJSON(
  _ members: KeyValuePairs<String, String> = [:], account: KeyValuePairs<String, String> = [:],
  device: KeyValuePairs<String, String> = [:]
) -> String {
  let devices =
    "["
    + object(
      [
        ("device_id", #""d-1""#), ("platform", #""ios""#), ("os_permission", #""granted""#),
        ("token_status", #""active""#),
      ], device) + "]"
  return object(
    [
      ("user_id", #""u-1""#), ("version", "1"), ("account", object([], account)),
      ("devices", devices),
    ], members)
}

private func object(_ base: [(String, String)], _ changes: KeyValuePairs<String, String>) -> String
{
  var members = base
  for (name, value) in changes {
    members.removeAll { $0.0 == name }
    if value != "missing" { members.append((name, value)) }
  }
  return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
}

func newTable(_ epochs: Epochs = Epochs()) -> PreferenceTable {
  PreferenceTable(hashKey: (7, 8), zones: SystemZones.publisher, epochs: epochs)
}

extension PreferenceTable {
  func apply(_ document: String, offset: Int64 = 0) -> Applied {
    withBytes(document) { apply(document: $0, offset: offset) }
  }

  /// Under its key, as from the topic; nil erases.
  func apply(key: String, _ document: String?, offset: Int64 = 0) -> Applied {
    withBytes(key) { key in
      guard let document else { return apply(key: key, value: nil, offset: offset) }
      return withBytes(document) { apply(key: key, value: $0, offset: offset) }
    }
  }

  /// The block of a user; valid until the next change.
  func block(_ user: String) -> PackedBlock? {
    let hash = withBytes(user) { self.hash($0) }
    guard let block = find(hash), confirm(block, hash) else { return nil }
    return block
  }
}

/// Where on `preferences.state` the erasures stand of users who have no document now. Their next
/// document takes it along (`PackedBlock.erasedOffset`): what was held for the user before is not to
/// be decided by what came after, however closely the two follow each other.
///
/// Bounded by forgetting the oldest: of at least the newest half of `offsetsMax` it knows. The
/// preference table's writer alone uses it; the key is a keyed hash.
struct Erasures {
  static let offsetsMax = 1 << 20

  private let generationMax: Int
  private var newer: [UserHash: Int64] = [:]
  private var older: [UserHash: Int64] = [:]

  init(offsetsMax: Int = Erasures.offsetsMax) { generationMax = max(1, offsetsMax / 2) }

  mutating func note(_ user: UserHash, offset: Int64) {
    if newer.count >= generationMax, newer[user] == nil {
      older = newer
      newer = [:]
    }
    newer[user] = offset
  }

  /// The user's newest, which is forgotten here. Nil where none is known.
  mutating func take(_ user: UserHash) -> Int64? {
    // A restore asks for every user, and mostly there is nothing to know.
    if newer.isEmpty && older.isEmpty { return nil }
    let old = older.removeValue(forKey: user)
    return newer.removeValue(forKey: user) ?? old
  }
}

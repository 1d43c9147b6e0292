/// What somebody may have meant by a word that is not known.
enum CloseMatch {
  /// ` (did you mean --policy?)`, or nothing where no candidate is near.
  static func hint(for word: String, among candidates: [String]) -> String {
    let found = matches(for: word, among: candidates)
    return found.isEmpty ? "" : "; did you mean \(found.joined(separator: " or "))?"
  }

  /// At most three candidates within a third of the word's length in edits, nearest first.
  static func matches(for word: String, among candidates: [String]) -> [String] {
    let wanted = Array(word.lowercased().utf8)
    // A long word is nobody's typing error, and the distance takes the product of the lengths.
    guard wanted.count <= 100 else { return [] }
    let limit = max(1, min(4, wanted.count / 3))
    return candidates.map { (name: $0, distance: distance(wanted, Array($0.lowercased().utf8))) }
      .filter { $0.distance <= limit }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
      .prefix(3).map(\.name)
  }

  /// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
  static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        let replaced = previous[j] + (a[i] == b[j] ? 0 : 1)
        var best = min(previous[j + 1] + 1, row[j] + 1, replaced)
        if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
          best = min(best, beforePrevious[j - 1] + 1)
        }
        row.append(best)
      }
      (beforePrevious, previous) = (previous, row)
    }
    return previous[b.count]
  }
}

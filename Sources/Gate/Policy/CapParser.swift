/// Reads the caps of a category.
enum CapParser {
  /// Of a category.
  private static let capsMax = 8
  private static let countMax: Int64 = 1_000
  private static let windowSecondsMax: Int64 = 31 * 86_400
  /// So many notifications of a user in a category may have to be looked at for one decision.
  private static let entriesMax: Int64 = 10_000

  static func caps(
    _ node: PolicyNode, of category: Category
  ) throws(PolicyError) -> [PolicyDocument.CapRule] {
    let elements = try node.elements()
    if let first = elements.first, category == .security {
      throw first.refuse("security is never capped: write []")
    }
    guard elements.count <= capsMax else {
      throw node.refuse("write at most \(capsMax) caps for a category")
    }
    var caps: [PolicyDocument.CapRule] = []
    for element in elements {
      let cap = try self.cap(element, of: category)
      guard !caps.contains(where: { $0.name == cap.name }) else {
        throw element.refuse(
          "there is a cap \"\(cap.name)\" already: records name it, write another")
      }
      caps.append(cap)
    }
    return caps
  }

  private static func cap(
    _ node: PolicyNode, of category: Category
  ) throws(PolicyError) -> PolicyDocument.CapRule {
    // Which keys there are depends on the style.
    guard case .object(let written) = node.value,
      let styleNode = written.first(where: { $0.name == "style" })
    else {
      throw node.refuse(
        "write {\"name\":…,\"count\":…,\"style\":\"calendar_day\"} or "
          + "{\"name\":…,\"count\":…,\"style\":\"sliding\",\"window_seconds\":…}")
    }
    let style: Cap.Style = try PolicyNode(path: "\(node.path).style", value: styleNode.value)
      .oneOf(["calendar_day": .calendarDay, "sliding": .sliding])
    if style == .calendarDay, written.contains(where: { $0.name == "window_seconds" }) {
      throw node.refuse(
        "the window of a calendar_day is the day: leave window_seconds out, or write \"sliding\"")
    }
    let members = try node.members(
      ["name", "count", "style"] + (style == .sliding ? ["window_seconds"] : []))
    let name = try members["name"]!.name(PolicyNode.nameWanted)
    if case .number("0") = members["count"]!.value {
      throw members["count"]!.refuse(
        "a cap that lets nothing through is no cap: write \"default\": \"off\" for "
          + "\(category.name), or a count of 1 or more")
    }
    return PolicyDocument.CapRule(
      name: name, count: Int(try members["count"]!.integer(1...countMax)), style: style,
      windowMs: style == .calendarDay
        ? 0
        : try members["window_seconds"]!.integer(1...windowSecondsMax) * Instant.secondMs)
  }

  /// As long as a notification's id is known it stays with its counter; how many there can be is for the
  /// tightest cap to say.
  static func checkWork(_ document: PolicyDocument) throws(PolicyError) {
    let all = document.categories.flatMap(\.caps)
    let memoryMs = all.reduce(document.duplicatesHorizonHours * Instant.hourMs) {
      max($0, $1.memoryMs)
    }
    for category in Category.allCases {
      let most = document.categories[Int(category.rawValue)].caps.map { cap in
        let windowMs = cap.style == .sliding ? cap.windowMs : Instant.dayMs
        return Int64(cap.count) * (memoryMs / windowMs + 1)
      }.min()
      guard let most, most > entriesMax else { continue }
      throw PolicyError(
        description: "policy key categories.\(category.name).caps: a user could get \(most) within "
          + "the \(memoryMs / Instant.hourMs) hours for which they are counted; write a smaller "
          + "count, a longer window, or a cap beside these that allows at most \(entriesMax)")
    }
  }
}

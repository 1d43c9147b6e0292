/// The caps, a second time: for each user and category every notification that was approved, looked at
/// whole at each question.
struct CapModel {
  private enum State { case open, accepted, refunded, recounted }
  private struct Item {
    var notification: String
    var atMs: Int64
    /// Whether it rejected.
    var devices: [String: Bool]
    var state: State
    /// An answer came when a clock that was ahead may have made it a matter of the past.
    var isUncertain = false
  }

  static let categories = ["transactional", "social"]

  private let count: Int
  private let windowMs: Int64
  private let isDaily: Bool
  private let memoryMs: Int64
  private var items: [String: [Item]] = [:]

  init(_ scenario: Scenario) {
    count = scenario.capCount
    windowMs = scenario.capMemorySeconds * 1_000
    isDaily = scenario.hasDailyCap
    memoryMs = max(windowMs, scenario.horizonHours * 3_600_000)
  }

  private static func key(_ user: String, _ category: String) -> String { "\(user) \(category)" }

  /// - Parameters:
  ///   - forgottenMs: what is older may have been forgotten, by a clock that was ahead.
  ///   - day: of the user's wall, at an instant.
  ///   - countsUncertain: whether what may or may not be refunded counts.
  func isUsedUp(
    _ user: String, _ category: String, _ notification: String, nowMs: Int64,
    forgottenMs: Int64, countsUncertain: Bool, day: (Int64) -> Int64
  ) -> Bool {
    guard Self.categories.contains(category) else { return false }
    let all = (items[Self.key(user, category)] ?? []).filter { $0.atMs > forgottenMs }
    func isCounted(_ item: Item) -> Bool {
      item.isUncertain ? countsUncertain : item.state != .refunded
    }
    if let own = all.first(where: { $0.notification == notification }), isCounted(own),
      own.atMs > nowMs - memoryMs
    {
      return false
    }
    let times = all.filter(isCounted).map(\.atMs).sorted()
    if isDaily {
      let today = day(nowMs)
      return times.count { day($0) == today } >= count
    }
    guard times.count >= count else { return false }
    // Any run of `count` that lies in one window together with now.
    return (0...(times.count - count)).contains { first in
      let last = first + count - 1
      return max(times[last], nowMs) - min(times[first], nowMs) < windowMs
    }
  }

  mutating func approved(
    _ user: String, _ category: String, _ notification: String, _ device: String, atMs: Int64
  ) {
    guard Self.categories.contains(category) else { return }
    let key = Self.key(user, category)
    let new = Item(
      notification: notification, atMs: atMs, devices: [device: false], state: .open)
    guard let at = items[key]?.firstIndex(where: { $0.notification == notification }) else {
      items[key, default: []].append(new)
      return
    }
    let old = items[key]![at]
    guard old.atMs > atMs - memoryMs else {
      items[key]![at] = new
      return
    }
    switch old.state {
    case .accepted, .recounted: break
    case .refunded:
      items[key]![at] = Item(
        notification: notification, atMs: atMs, devices: [:], state: .recounted)
    case .open:
      if old.devices[device] == nil { items[key]![at].devices[device] = false }
    }
  }

  mutating func answered(
    _ user: String, _ notification: String, _ device: String, isAccepted: Bool, latestMs: Int64
  ) {
    for category in Self.categories {
      let key = Self.key(user, category)
      guard let at = items[key]?.firstIndex(where: { $0.notification == notification }),
        items[key]![at].state == .open, items[key]![at].devices[device] != nil
      else { continue }
      if items[key]![at].atMs <= latestMs - memoryMs { items[key]![at].isUncertain = true }
      if isAccepted {
        items[key]![at].state = .accepted
      } else {
        items[key]![at].devices[device] = true
        if items[key]![at].devices.values.allSatisfy({ $0 }) { items[key]![at].state = .refunded }
      }
    }
  }
}

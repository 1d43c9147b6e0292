import Gate
import Preferences
import Synchronization

/// How many users are in their quiet hours at the beginning of each hour of the coming day. Counted
/// in the background by `renew`, since it looks at everybody; read at once.
public final class QuietMap: Sendable {
  public struct Answer: Sendable, Equatable {
    /// The first hour's beginning, milliseconds since the epoch.
    public var fromMs: Int64
    /// Of 24 hours, users with at least one device that is in its window then.
    public var users: [Int]
    /// All users who have a device.
    public var population: Int
    /// When it was counted.
    public var atMs: Int64
  }

  public static let hours = 24
  private static let hourMs: Int64 = 3_600_000
  /// Numbers of users looked through between two looks at whether to go on.
  private static let stepUsers: Int64 = 2_000

  private let service: PreferenceService
  private let zones: ZonePublisher
  private let epochs: Epochs
  private let slot: Int
  private let fallbackZone: Identifier
  private let nowMs: @Sendable () -> Int64
  private let newest = Mutex<Answer?>(nil)

  /// - Parameter epochs: those that `zones` was made with.
  public init(
    _ service: PreferenceService, policy: Policy, zones: ZonePublisher, epochs: Epochs,
    nowMs: @escaping @Sendable () -> Int64
  ) {
    self.service = service
    self.zones = zones
    self.epochs = epochs
    self.nowMs = nowMs
    fallbackZone = Identifier(policy.fallbackTimezone)
    slot = epochs.register()
  }

  /// Nil until it was counted once.
  public var answer: Answer? { newest.withLock { $0 } }

  /// Counts anew. To be called by one thread, which may take its time.
  ///
  /// - Parameter goesOn: asked now and then; false leaves the last answer as it is.
  public func renew(while goesOn: () -> Bool) throws(StoreError) {
    let now = nowMs()
    let from = now / Self.hourMs * Self.hourMs
    var answer = Answer(
      fromMs: from, users: Array(repeating: 0, count: Self.hours), population: 0, atMs: now)
    var known: [QuietPlace: UInt32] = [:]
    var key: Int64 = 0
    while goesOn() {
      let (users, next) = try service.quietPlaces(afterKey: key, limit: Self.stepUsers)
      epochs.passBoundary(slot)
      for places in users {
        var hours: UInt32 = 0
        for place in places {
          if let found = known[place] {
            hours |= found
          } else {
            let found = self.hours(place, fromMs: from)
            known[place] = found
            hours |= found
          }
        }
        answer.population += 1
        for hour in 0..<Self.hours where hours >> UInt32(hour) & 1 != 0 {
          answer.users[hour] += 1
        }
      }
      epochs.goIdle(slot)
      guard let next else {
        newest.withLock { $0 = answer }
        return
      }
      key = next
    }
  }

  /// Bit `h`: it is quiet there `h` hours after `fromMs`.
  private func hours(_ place: QuietPlace, fromMs: Int64) -> UInt32 {
    guard case .window(let start, let end, let days) = place.window else { return 0 }
    let window = QuietWindow(startMinute: start, endMinute: end, days: days)
    let table = zones.current
    // As the gate chooses: an id that the database does not have counts as absent.
    let candidates = [place.deviceZone, place.accountZone, fallbackZone]
    guard let zone = candidates.lazy.compactMap({ self.number($0) }).first(where: table.isKnown)
    else { return 0 }
    return (0..<Self.hours).reduce(0) { hours, hour in
      let at = fromMs + Int64(hour) * Self.hourMs
      return window.contains(at, zone: zone, in: table) ? hours | 1 << UInt32(hour) : hours
    }
  }

  private func number(_ zone: Identifier?) -> UInt16? {
    guard var name = zone?.text else { return nil }
    return name.withUTF8 { zones.intern(UnsafeRawBufferPointer($0)) }
  }
}

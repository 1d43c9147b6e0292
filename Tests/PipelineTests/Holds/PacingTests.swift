import Gate
import Testing

@testable import Pipeline

@Suite struct HoldSpreadTests {
  /// Later only, below the spread, before the expiry, and the same every time.
  @Test func bounds() {
    var random = Xorshift(seed: 8)
    let places =
      [0, 1, UInt32.max / 2, UInt32.max]
      + (0..<200).map { _ in
        UInt32(truncatingIfNeeded: random.next())
      }
    for spreadMs in [0, 1, 2, 1000, 300_000] as [Int64] {
      let spread = HoldSpread(spreadMs: spreadMs)
      for place in places {
        for room in [nil, 1, 2, 999, 1000, 1001, 300_000, 1 << 40] as [Int64?] {
          let due = spread.dueMs(
            place: place, notBeforeMs: 5_000, expiresAtMs: room.map { 5_000 + $0 })
          #expect(due >= 5_000)
          #expect(due < 5_000 + max(1, spreadMs))
          if let room { #expect(due < 5_000 + room) }
          let again = spread.dueMs(
            place: place, notBeforeMs: 5_000, expiresAtMs: room.map { 5_000 + $0 })
          #expect(due == again)
        }
      }
    }
  }

  /// C063: 100,000 users whose window ends at once fill the spread evenly.
  @Test func evenly() {
    let spread = HoldSpread(spreadMs: 100_000)
    var random = Xorshift(seed: 9)
    var seconds = [Int](repeating: 0, count: 100)
    for _ in 0..<100_000 {
      let place = UInt32(truncatingIfNeeded: random.next())
      seconds[Int(spread.dueMs(place: place, notBeforeMs: 0, expiresAtMs: nil) / 1000)] += 1
    }
    // Five standard deviations of a thousand.
    #expect(seconds.allSatisfy { 840...1160 ~= $0 }, "\(seconds)")
  }
}

@Suite struct TokenBucketTests {
  /// Whatever is asked when, no stretch of a second sees more than the share.
  @Test(arguments: [1, 2, 3, 9, 10, 11, 100, 999, 10_000] as [Int64], UInt64(1)...6)
  func neverMoreThanTheRateInASecond(rate: Int64, seed: UInt64) {
    var random = Xorshift(seed: seed)
    var bucket = TokenBucket(ratePerSecond: rate, nowMs: 0)
    bucket.setShare(ownedPartitions: 1, of: 1, nowMs: 0)
    var taken: [(ms: Int64, count: Int)] = []
    var nowMs: Int64 = 0
    while nowMs < 20_000 {
      nowMs += Int64.random(in: 0...(seed % 2 == 0 ? 3 : 700), using: &random)
      let count = min(
        bucket.available(nowMs: nowMs), Int.random(in: 0...Int(rate), using: &random))
      bucket.take(count)
      taken.append((nowMs, count))
    }
    for start in taken.indices {
      var sum = 0
      for entry in taken[start...] {
        if entry.ms >= taken[start].ms + 1000 { break }
        sum += entry.count
      }
      #expect(sum <= rate, "from \(taken[start].ms) ms, seed \(seed)")
    }
  }

  /// Who takes what there is every few milliseconds gets nine tenths of the rate at least.
  @Test(arguments: [1, 2, 7, 10, 50, 1000, 10_000] as [Int64])
  func nothingIsLost(rate: Int64) {
    var bucket = TokenBucket(ratePerSecond: rate, nowMs: 0)
    bucket.setShare(ownedPartitions: 1, of: 1, nowMs: 0)
    var total = 0
    for nowMs in stride(from: Int64(0), through: 100_000, by: 7) {
      let count = bucket.available(nowMs: nowMs)
      bucket.take(count)
      total += count
    }
    #expect(total >= Int(rate * 89), "\(total)")
    #expect(total <= Int(rate * 101))
  }

  @Test func shares() {
    // Eight workers with one partition each, at a rate of one a second: one in eight seconds each.
    var bucket = TokenBucket(ratePerSecond: 1, nowMs: 0)
    bucket.setShare(ownedPartitions: 1, of: 8, nowMs: 0)
    #expect(bucket.available(nowMs: 7_999) == 0)
    #expect(bucket.waitMs(nowMs: 7_999) == 1)
    #expect(bucket.available(nowMs: 8_000) == 1)
    bucket.setShare(ownedPartitions: 0, of: 8, nowMs: 8_000)
    #expect(bucket.available(nowMs: 1_000_000) == 0)
    #expect(bucket.waitMs(nowMs: 1_000_000) == nil)

    // What is gained with a partition is not there at once.
    var large = TokenBucket(ratePerSecond: 8000, nowMs: 0)
    large.setShare(ownedPartitions: 1, of: 8, nowMs: 0)
    #expect(large.available(nowMs: 10_000) == 100)
    large.setShare(ownedPartitions: 8, of: 8, nowMs: 10_000)
    #expect(large.available(nowMs: 10_000) == 100)
    #expect(large.available(nowMs: 20_000) == 800)
    large.setShare(ownedPartitions: 1, of: 8, nowMs: 20_000)
    #expect(large.available(nowMs: 20_000) == 100)
  }

  /// A machine that slept, and a clock that stands still or goes back.
  @Test func odderTimes() {
    var bucket = TokenBucket(ratePerSecond: 100, nowMs: 1000)
    bucket.setShare(ownedPartitions: 1, of: 1, nowMs: 1000)
    #expect(bucket.available(nowMs: .max / 2) == 10)
    bucket.take(10)
    #expect(bucket.available(nowMs: 1000) == 0)
    bucket.giveBack(4)
    #expect(bucket.available(nowMs: 1000) == 4)
    bucket.giveBack(100)
    #expect(bucket.available(nowMs: 1000) == 10)
  }

  @Test func withoutALimit() {
    var bucket = TokenBucket(ratePerSecond: nil, nowMs: 0)
    #expect(bucket.available(nowMs: 0) == Int.max)
    bucket.take(1_000_000_000)
    #expect(bucket.waitMs(nowMs: 0) == 0)
  }
}

@Suite struct ReleasePlannerTests {
  let now = HoldStore.testNowMs

  func planner(apns: Int64?, fcm: Int64?) -> ReleasePlanner {
    var planner = ReleasePlanner(apnsPerSecond: apns, fcmPerSecond: fcm, monotonicMs: 0)
    planner.setShare(ownedPartitions: 2, of: 2, monotonicMs: 0)
    return planner
  }

  /// The earliest due of all stores first.
  @Test func overStores() throws {
    let stores = [HoldStore.make(), HoldStore.make(), HoldStore.make()]
    var random = Xorshift(seed: 10)
    for id in UInt64(1)...900 {
      stores[Int(id % 3)].restore(
        TestHold(user: id, id: id, untilMs: now + Int64.random(in: 0...300, using: &random)))
    }
    var planner = planner(apns: nil, fcm: nil)
    var dues: [Int64] = []
    while case let batches = planner.take(
      from: stores, wallMs: now + 200, monotonicMs: 0, max: 64), !batches.isEmpty
    {
      for batch in batches { dues += batch.holds.map { stores[batch.store].dueMs(of: $0) } }
    }
    #expect(dues == dues.sorted())
    let left = stores.reduce(0) { $0 + $1.overdue(.apns, nowMs: .max / 2, limit: 1000) }
    #expect(dues.count + left == 900 && dues.allSatisfy { $0 <= now + 200 } && left > 100)
  }

  /// C063: all due at one instant; neither provider exceeds its rate in any second, neither keeps the
  /// other waiting, everything leaves, and what leaves leaves in the order it came.
  @Test func aBurst() {
    let store = HoldStore.make()
    for id in UInt64(1)...6_000 {
      store.restore(TestHold(user: id, id: id, untilMs: now, provider: id % 3 == 0 ? .fcm : .apns))
    }
    var planner = planner(apns: 1000, fcm: 100)
    var monotonicMs: Int64 = 0
    var left: [Provider: [(ms: Int64, count: Int)]] = [.apns: [], .fcm: []]
    while store.count > 0 {
      let batches = planner.take(
        from: [store], wallMs: now + monotonicMs, monotonicMs: monotonicMs, max: 500)
      for hold in batches.flatMap(\.holds) {
        left[store.entries[hold.number].provider]!.append((monotonicMs, 1))
        store.end(hold)
      }
      store.commit()
      guard store.count > 0 else { break }
      let waitMs = planner.waitMs(
        [store], wallMs: now + monotonicMs, monotonicMs: monotonicMs)
      #expect(0...ReleasePlanner.sleepMsMax ~= waitMs)
      monotonicMs += max(1, waitMs)
      #expect(monotonicMs < 40_000)
      if monotonicMs > 40_000 { break }
    }
    for (provider, rate) in [(Provider.apns, 1000), (.fcm, 100)] {
      let times = left[provider]!.map(\.ms)
      #expect(times.count == (provider == .apns ? 4000 : 2000))
      for (index, ms) in times.enumerated() where index + rate < times.count {
        #expect(times[index + rate] >= ms + 1000, "\(provider)")
      }
      #expect(times.last! <= Int64(times.count * 1000 / rate) * 10 / 8)
    }
  }

  /// C057: with nothing else going on it wakes when the next hold is due, and soon enough to see that
  /// a clock was set.
  @Test func wakes() {
    let store = HoldStore.make()
    var planner = planner(apns: 10, fcm: nil)
    #expect(planner.waitMs([store], wallMs: now, monotonicMs: 0) == ReleasePlanner.sleepMsMax)
    store.restore(TestHold(user: 1, id: 1, untilMs: now + 400, provider: .fcm))
    #expect(planner.waitMs([store], wallMs: now, monotonicMs: 0) == 400)
    #expect(planner.waitMs([store], wallMs: now + 400, monotonicMs: 0) == 0)
    #expect(planner.waitMs([store], wallMs: now + 90_000, monotonicMs: 0) == 0)
    #expect(
      planner.waitMs([store], wallMs: now - 90_000, monotonicMs: 0) == ReleasePlanner.sleepMsMax)
    // Overdue, and no token for a tenth of a second.
    store.restore(TestHold(user: 2, id: 2, untilMs: now))
    #expect(planner.waitMs([store], wallMs: now, monotonicMs: 0) == 100)
    #expect(planner.take(from: [store], wallMs: now, monotonicMs: 0, max: 10).isEmpty)
    let batches = planner.take(from: [store], wallMs: now, monotonicMs: 100, max: 10)
    #expect(batches.flatMap(\.holds).count == 1)
    planner.giveBack(.apns, 1)
    store.abort()
    #expect(planner.take(from: [store], wallMs: now, monotonicMs: 100, max: 10).count == 1)
  }
}

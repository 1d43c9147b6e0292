import Pipeline

/// The clocks of a simulated machine. The wall's runs faster than the monotonic one, so that hours of
/// holds and windows fit into minutes of group sessions and transactions; nothing in the loop may rest on
/// the two being as fast as each other.
final class SimClock: LoopClock {
  private let world: World
  private let wall: WallTime
  /// How far this machine's clock is off.
  var skewMs: Int64 = 0

  init(_ world: World, _ wall: WallTime) {
    self.world = world
    self.wall = wall
  }

  func wallMs() -> Int64 { wall.read(skewMs) }
  func monotonicMs() -> Int64 { world.nowMs }
  func sleep(ms: Int64) { world.sleep(ms: ms) }
}

/// The time that documents and windows speak of.
final class WallTime {
  private unowned let world: World
  private var startMs: Int64
  let speed: Int64
  /// The latest that any machine has read: what was forgotten by then may be gone.
  private(set) var latestReadMs: Int64

  init(_ world: World, startMs: Int64, speed: Int64) {
    self.world = world
    self.startMs = startMs
    self.speed = speed
    latestReadMs = startMs
  }

  var nowMs: Int64 { startMs + world.nowMs * speed }

  /// A night that every machine slept through.
  func skip(ms: Int64) { startMs += ms }

  fileprivate func read(_ skewMs: Int64) -> Int64 {
    let ms = nowMs + skewMs
    latestReadMs = max(latestReadMs, ms)
    return ms
  }
}

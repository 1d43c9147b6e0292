/// A process on some machine: its threads start, stop and end together.
class Machine {
  let name: String
  let number: Int
  unowned let world: World
  /// Ended by kill -9: nothing of it happens any more, and what it waits for is over at once.
  private(set) var isDead = false
  /// Stopped, and not ended: none of its threads runs before.
  var frozenUntilMs: Int64 = 0
  private var fibers: [Fiber] = []

  init(_ name: String, number: Int, in world: World) {
    self.name = name
    self.number = number
    self.world = world
  }

  func startFiber(_ name: String, _ body: @escaping () -> Void) {
    let fiber = Fiber("\(self.name).\(name)", of: self, body)
    fibers.append(fiber)
    world.start(fiber)
  }

  var hasEnded: Bool { fibers.allSatisfy(\.isDone) }

  /// Whatever it was doing: the code that waits sees every port fail for good, and unwinds without
  /// reaching anything outside.
  func kill() {
    guard !isDead else { return }
    isDead = true
    wasKilled()
    world.after(ms: 0) { [self] in
      for fiber in fibers where !fiber.isDone { world.finish(fiber) }
      fibers.removeAll()
    }
  }

  func wasKilled() {}
}

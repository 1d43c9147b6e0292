import CSimulation

/// One thread of a simulated process. It runs until it waits for something in the world.
final class Fiber {
  let name: String
  /// Whose thread it is.
  unowned let machine: Machine
  private(set) var isDone = false
  /// Grows with each wait, so that what was meant to end an earlier one is known for that.
  private(set) var waits: UInt64 = 0
  /// Whether the wait that is over was ended by a signal, and not by time.
  var wasSignalled = false

  private var handle: OpaquePointer?
  private var body: (() -> Void)?

  init(_ name: String, of machine: Machine, _ body: @escaping () -> Void) {
    self.name = name
    self.machine = machine
    self.body = body
    handle = csim_fiber_make(
      { context in
        // Borrowed: whoever made the fiber holds it until it is done.
        let fiber = Unmanaged<Fiber>.fromOpaque(context!).takeUnretainedValue()
        fiber.run()
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func run() {
    let body = body!
    self.body = nil
    body()
    isDone = true
  }

  /// From the scheduler.
  func resume() {
    precondition(!isDone, "\(name) has ended")
    csim_fiber_resume(handle)
    if isDone {
      csim_fiber_free(handle)
      handle = nil
    }
  }

  /// From the fiber itself: begins a wait.
  func beginWait() -> UInt64 {
    waits += 1
    wasSignalled = false
    return waits
  }

  func yield() { csim_fiber_yield() }
}

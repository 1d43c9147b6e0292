import Glibc

/// A thread of its own: tasks share as many threads as there are cores, and one that spins until
/// another is done would wait for ever.
final class TestThread {
  private var handle = pthread_t()

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  init(_ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(Body(run))
    let failure = pthread_create(
      &handle, nil,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    precondition(failure == 0, "no thread: \(failure)")
  }

  func join() { pthread_join(handle, nil) }
}

import Glibc

/// A thread of the process's own. Lanes block for as long as they like; on the cooperative pool that
/// would take a thread from everybody else.
public final class NamedThread: @unchecked Sendable {
  // Unchecked because of the handle, which only the owner that joins touches after init.
  private var handle = pthread_t()
  private var isJoined = false

  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts at once. Linux shows the first 15 bytes of `name`.
  public init(name: String, _ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(Body(name: name, run: run))
    let code = pthread_create(
      &handle, nil,
      { raw in
        let body = Unmanaged<Body>.fromOpaque(raw!).takeRetainedValue()
        NamedThread.nameThisThread(body.name)
        body.run()
        return nil
      }, body.toOpaque())
    precondition(code == 0, "no thread for \(name): \(String(cString: strerror(code)))")
  }

  /// Through the file, as Glibc's call for it is not part of what Swift imports.
  private static func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    var bytes = Array(name.utf8.prefix(15))
    // A name is a help for people looking at the process; nothing depends on it.
    _ = write(file, &bytes, bytes.count)
    close(file)
  }

  deinit { precondition(isJoined, "a thread was dropped without join()") }

  /// Waits for the end of `run`.
  public func join() {
    pthread_join(handle, nil)
    isJoined = true
  }
}

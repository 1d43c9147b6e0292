import Glibc

/// State behind a lock, and the wait until it is as somebody needs it.
package final class Monitor<State>: @unchecked Sendable {
  // Unchecked: the state is reached under the lock alone.
  private var state: State
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init(_ state: sending State) {
    self.state = state
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // A wall clock that is set back must not make a wait of it.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(lock)
    changed.deallocate()
    lock.deallocate()
  }

  /// Changes the state, and wakes whoever waits for it.
  @discardableResult
  package func change<R>(_ body: (inout State) -> R) -> R {
    pthread_mutex_lock(lock)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(lock)
    }
    return body(&state)
  }

  /// Waits until `body` answers.
  package func wait<R>(_ body: (inout State) -> R?) -> R {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while true {
      if let result = body(&state) { return result }
      pthread_cond_wait(changed, lock)
    }
  }

  /// The same, for no longer than `timeoutMs`; nil where that was not enough.
  package func wait<R>(timeoutMs: Int64, _ body: (inout State) -> R?) -> R? {
    var until = timespec()
    clock_gettime(CLOCK_MONOTONIC, &until)
    let nanoseconds = until.tv_nsec + Int(timeoutMs % 1000) * 1_000_000
    until.tv_sec += Int(timeoutMs / 1000) + nanoseconds / 1_000_000_000
    until.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while true {
      if let result = body(&state) { return result }
      if pthread_cond_timedwait(changed, lock, &until) == ETIMEDOUT { return body(&state) }
    }
  }
}

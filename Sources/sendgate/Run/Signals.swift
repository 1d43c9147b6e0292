import Glibc

/// SIGTERM and SIGINT as something to ask for: a handler could do next to nothing safely.
enum Signals {
  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    return set
  }

  /// To be called before any thread is started: threads inherit what is blocked, and one that did
  /// not would take the signal the old way and end the process in the middle of a transaction.
  static func block() {
    var blocked = set
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
  }

  /// Waits up to `ms` for one of the two; its name, or nil.
  static func wait(ms: Int64) -> String? {
    var waited = set
    var limit = timespec(tv_sec: Int(ms / 1_000), tv_nsec: Int(ms % 1_000) * 1_000_000)
    switch sigtimedwait(&waited, nil, &limit) {
    case SIGTERM: return "SIGTERM"
    case SIGINT: return "SIGINT"
    default: return nil
    }
  }
}

import Glibc

/// How the kernel shares the processor between the lanes.
public enum ThreadPriority {
  /// Lets others go first, for this thread and those it starts from now on (librdkafka's among
  /// them): a marketing burst that keeps every core busy must not delay a security alert
  /// (requirements K3). Costs nothing while a core is free, and asking for less needs no rights.
  public static func yieldToOthers() {
    // The calling thread's own: on Linux the value is a thread's, not the process's.
    // Where it is refused all the same, the lanes share as equals.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
  }
}

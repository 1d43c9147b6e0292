#if PlantedBugs
  /// Gates that are wrong in one way each, for the simulation to find. In no build but the one that asks for
  /// them: `swift build --traits PlantedBugs`.
  public enum PlantedBug: String, CaseIterable, Sendable {
    // Exactly once, by the rules of docs/architecture.md.
    case receiptOffsetsLeftOut = "receipt-offsets-left-out"
    case releasesWithoutOffsets = "releases-without-offsets"
    case commitBeforeFlush = "commit-before-flush"
    case claimAtCommit = "claim-at-commit"
    case unfencedOffsets = "unfenced-offsets"
    case unstableOffsets = "unstable-offsets"
    case candidatesUncommitted = "candidates-uncommitted"
    case restoreBeforeSettled = "restore-before-settled"
    case restoreToComputedPosition = "restore-to-computed-position"
    case restoreUncommitted = "restore-uncommitted"
    case noRewindAfterAbort = "no-rewind-after-abort"
    case seenKeptAfterAbort = "seen-kept-after-abort"
    case capsKeptAfterAbort = "caps-kept-after-abort"
    case holdsEndedByAbort = "holds-ended-by-abort"
    case stateKeptAfterReplace = "state-kept-after-replace"
    case holdsKeptAfterRevoke = "holds-kept-after-revoke"
    // At least once.
    case looseStateFirst = "loose-state-first"
    // The state.
    case earlyRelease = "early-release"
    case nullValuesIgnored = "null-values-ignored"
    case nullValueLeftOut = "null-value-left-out"
    case holdLostInRestore = "hold-lost-in-restore"
    case capOffByOne = "cap-off-by-one"
    case capNotCountedAtRelease = "cap-not-counted-at-release"
    case horizonTooShort = "horizon-too-short"
    case duplicatesRenewed = "duplicates-renewed"
    case heldNotSeen = "held-not-seen"
    case supersedeForgotten = "supersede-forgotten"
    case outputsOutOfOrder = "outputs-out-of-order"
    case stalePreferences = "stale-preferences"
    case nothingForgotten = "nothing-forgotten"

    /// Set once, before the world begins.
    public nonisolated(unsafe) static var planted: PlantedBug?

    public static func `is`(_ bug: PlantedBug) -> Bool { planted == bug }
  }
#endif

/// One decision about one device, as the gate wrote it (requirements X1), and what became of it.
public struct EvidenceAttempt: Sendable, Equatable {
  public enum Outcome: String, Sendable, CaseIterable {
    case approved, deferred, dropped
  }

  /// Of this record in the index; names it in links between attempts.
  public var sequence: Int64
  /// Where the record stands on Kafka.
  public var place: EvidencePlace
  public var outcome: Outcome
  /// The approval of a synthetic user: it went to the self-test's topic and to no dispatcher.
  public var isSelfTest: Bool
  /// Nothing but ids and place can be told: the record is none that a gate writes. Then reason and
  /// category are empty.
  public var isUnreadable: Bool
  /// `decided_at`, milliseconds since the epoch; of an unreadable record its Kafka timestamp.
  public var atMs: Int64
  public var userID: String?
  public var notificationID: String?
  public var deviceID: String?
  /// As the candidate named it; of `unknown_category` it is no category.
  public var category: String?
  public var subtype: String?
  /// `event` of the candidate.
  public var event: String?
  /// The first reason that held, a code of docs/reasons.md.
  public var reason: String
  /// Every reason that held, strictest first.
  public var blockedBy: [String]
  public var versions: EvidenceVersions
  public var values: EvidenceValues
  /// Nil unless approved.
  public var approval: EvidenceApproval?
  /// Until when it is held; nil unless deferred.
  public var deliverAfterMs: Int64?
  /// The hold that it came of; nil where it was never held.
  public var held: EvidenceHold?
  /// The notification that took its place; nil unless `superseded`.
  public var supersededBy: String?
  /// Nil unless `frequency_capped`.
  public var cap: EvidenceCap?
  /// Of `invalid_candidate`: what is wrong, and of which member.
  public var detail: String?
  public var detailMember: String?
  /// What providers and apps said of this notification on this device from this approval until the
  /// next, oldest first; of what was not approved, nothing. `accepted` is
  /// the provider's word and nobody's eye; only `user_observed` says that somebody saw it
  /// (requirements R1, R2).
  public var receipts: [EvidenceReceipt] = []
  /// Of a deferral: it still waits, by the deferred topic.
  public var isOpenHold = false
  /// Of a deferral: `sequence` of what came of it. Nil while it waits, after an erasure, and where
  /// that is not indexed (yet).
  public var releasedAs: Int64?
  /// Of what came of a hold: `sequence` of the deferral. Nil where that is not indexed.
  public var heldAs: Int64?
  /// The record's own bytes.
  public var record: [UInt8]
}

/// Where a record stands on Kafka.
public struct EvidencePlace: Sendable, Equatable {
  public var topic: String
  public var partition: Int32
  public var offset: Int64

  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }
}

/// What a decision was made by.
public struct EvidenceVersions: Sendable, Equatable {
  public var policy: String?
  /// Of the user's document; nil where there was none.
  public var preferences: Int64?
  /// That document's offset on the preference topic.
  public var preferenceOffset: Int64?
  public var zones: String?
  public var gate: String?

  public init() {}
}

/// The five values as they were when it was decided; nil where there was no such user or device.
public struct EvidenceValues: Sendable, Equatable {
  /// `user-on`, `user-off`, `default`, of the account and of the device.
  public var accountChoice: String?
  public var deviceChoice: String?
  /// What both and the defaults came to.
  public var effectiveChoice: Bool?
  public var osPermission: String?
  public var tokenStatus: String?
  public var quietHours = EvidenceQuietHours()
  public var suppression: String?

  public init() {}
}

public struct EvidenceQuietHours: Sendable, Equatable {
  /// `22:00`; nil where there is no window.
  public var start: String?
  public var end: String?
  /// `mon` … `sun`; empty: every day.
  public var days: [String] = []
  public var timezone: String?
  /// `device`, `account` or `fallback`.
  public var timezoneSource: String?
  public var isInside: Bool?
  public var endsAtMs: Int64?
  /// What is set cannot be understood, and counts as the policy says.
  public var isInvalid = false

  public init() {}
}

/// What a dispatcher was told.
public struct EvidenceApproval: Sendable, Equatable {
  public var platform: String?
  public var interruption: String?
  public var isCritical = false
  public var expiresAtMs: Int64?
  public var sendBeforeMs: Int64?
  public var collapseKey: String?
  public var unsubscribeURL: String?
  /// `allowed` or `forbidden`.
  public var smsFallback: String?

  public init() {}
}

/// A hold: when it was first decided, and until when it was to wait.
public struct EvidenceHold: Sendable, Equatable {
  public var decidedAtMs: Int64
  public var deliverAfterMs: Int64

  public init(decidedAtMs: Int64, deliverAfterMs: Int64) {
    self.decidedAtMs = decidedAtMs
    self.deliverAfterMs = deliverAfterMs
  }
}

public struct EvidenceCap: Sendable, Equatable {
  public var name: String
  public var freesAtMs: Int64?

  public init(name: String, freesAtMs: Int64?) {
    self.name = name
    self.freesAtMs = freesAtMs
  }
}

import Gate

/// What the audit says of an instant (requirements C5). A pure fold over rows, without the state: the
/// same registers, filled by the rows dated up to the instant, those that came late among them.
public enum AuditHistory {
  /// What was in force.
  public struct Answer: Equatable, Sendable {
    public var state: Choice
    /// Since when, how, and the row that says so; nil where nothing was chosen by then.
    public var sinceMs: Int64?
    public var source: ChoiceSource?
    public var row: AuditRow?

    static let nothing = Answer(state: .unset)

    init(state: Choice, sinceMs: Int64? = nil, source: ChoiceSource? = nil, row: AuditRow? = nil) {
      self.state = state
      self.sinceMs = sinceMs
      self.source = source
      self.row = row
    }
  }

  /// One user's choice of a category at an instant: of the account, of one device, and both together.
  public struct Consent: Equatable, Sendable {
    public var account: Answer
    /// Nil where no device was asked for.
    public var device: Answer?
    /// Whether there was an opt-in and no opt-out.
    public var isOptedIn: Bool
  }

  /// - Parameters:
  ///   - rows: of one user.
  ///   - recordedByMs: leaves out what was recorded later: what was known then, not what is now.
  public static func consent(
    _ rows: [AuditRow], _ category: Category, device: Identifier? = nil, atMs: Int64,
    recordedByMs: Int64? = nil
  ) -> Consent {
    let account = choice(rows, category, .account, atMs: atMs, recordedByMs: recordedByMs)
    let own = device.map {
      choice(rows, category, .device($0), atMs: atMs, recordedByMs: recordedByMs)
    }
    let states = [account.state] + (own.map { [$0.state] } ?? [])
    return Consent(
      account: account, device: own,
      isOptedIn: states.contains(.userOn) && !states.contains(.userOff))
  }

  /// The choice of one category in one scope.
  public static func choice(
    _ rows: [AuditRow], _ category: Category, _ scope: PreferenceScope, atMs: Int64,
    recordedByMs: Int64? = nil
  ) -> Answer {
    var choice = CategoryChoice()
    var madeRow: AuditRow?
    var linkRow: AuditRow?
    for row in rows where counts(row, atMs, recordedByMs) {
      guard row.category == category, row.scope == scope else { continue }
      let before = choice
      if row.kind == .choice, let state = state(row.after) {
        _ = choice.made.merge(Stamped(state, atMs: row.atMs, source: row.source))
        if choice.made != before.made { madeRow = row }
      } else if row.kind == .linkMute {
        let isMuted = row.after == AuditText.linkMuted
        _ = choice.link.merge(Stamped(isMuted, atMs: row.atMs, source: .unsubscribeLink))
        if choice.link != before.link { linkRow = row }
      }
    }
    guard let inForce = choice.inForce else { return .nothing }
    return Answer(
      state: inForce.value, sinceMs: inForce.atMs, source: inForce.source,
      row: inForce == choice.made ? madeRow : linkRow)
  }

  /// The SMS ledger, which has a trail of its own (requirements L3).
  public static func smsConsent(
    _ rows: [AuditRow], atMs: Int64, recordedByMs: Int64? = nil
  ) -> Answer {
    var held: Stamped<Choice>?
    var heldRow: AuditRow?
    for row in rows where counts(row, atMs, recordedByMs) && row.kind == .smsConsent {
      guard let state = state(row.after) else { continue }
      let before = held
      _ = held.merge(Stamped(state, atMs: row.atMs, source: row.source))
      if held != before { heldRow = row }
    }
    guard let held else { return .nothing }
    return Answer(state: held.value, sinceMs: held.atMs, source: held.source, row: heldRow)
  }

  /// Refusals changed nothing.
  private static func counts(_ row: AuditRow, _ atMs: Int64, _ recordedByMs: Int64?) -> Bool {
    row.outcome != .refused && row.atMs <= atMs
      && (recordedByMs.map { row.recordedAtMs <= $0 } ?? true)
  }

  private static func state(_ text: String?) -> Choice? {
    Choice.allCases.first { "\($0.name)" == text }
  }
}

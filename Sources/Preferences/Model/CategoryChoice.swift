import Gate

/// What a user chose for one category, for the account or for one device (requirements C4).
///
/// What came by an unsubscribe link stands beside what was chosen otherwise, so that undoing it leads
/// back to what was before, with the time and source it had: a consent is never made up anew.
public struct CategoryChoice: Equatable, Sendable {
  /// The newest choice that came by no link.
  public var made: Stamped<Choice>?
  /// Whether a link muted the category; false: that was undone.
  public var link: Stamped<Bool>?

  public init(made: Stamped<Choice>? = nil, link: Stamped<Bool>? = nil) {
    self.made = made
    self.link = link
  }

  /// The choice that counts; nil where none was ever made, which is `default`.
  public var inForce: Stamped<Choice>? {
    guard let link, link.value else { return made }
    let mute = Stamped(Choice.userOff, atMs: link.atMs, source: .unsubscribeLink)
    guard let made, made.outranks(mute) else { return mute }
    return made
  }

  public var state: Choice { inForce?.value ?? .unset }
}

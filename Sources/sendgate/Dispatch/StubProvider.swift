/// Stands in for APNs and FCM. What it answers is a function of the seed and the send alone, so that a
/// call that is repeated after a crash is answered as it was before.
struct StubProvider {
  /// In percent; they add up to 100.
  struct Shares: Equatable {
    var accepted: Int
    var unregistered: Int
    var rejected: Int

    /// So that every kind of answer occurs, and few do not mean what a demo is about.
    static let usual = Shares(accepted: 97, unregistered: 2, rejected: 1)

    /// What is not given: the other two none, what is accepted the rest; nothing given, the usual.
    init(accepted: Int?, unregistered: Int?, rejected: Int?) throws(CommandFailure) {
      guard accepted != nil || unregistered != nil || rejected != nil else {
        self = .usual
        return
      }
      self.unregistered = unregistered ?? 0
      self.rejected = rejected ?? 0
      let rest = 100 - self.unregistered - self.rejected
      self.accepted = accepted ?? max(0, rest)
      let sum = self.accepted + self.unregistered + self.rejected
      guard sum == 100 else {
        throw .usage("--accepted, --unregistered and --rejected add up to \(sum), not to 100")
      }
    }

    private init(accepted: Int, unregistered: Int, rejected: Int) {
      self.accepted = accepted
      self.unregistered = unregistered
      self.rejected = rejected
    }
  }

  enum Answer: Equatable {
    case accepted
    /// The token is of no use any more.
    case unregistered(code: String)
    /// Something else is wrong, in the provider's own word.
    case rejected(code: String)
  }

  enum Observation: String {
    case tap
    case badgeClear = "badge_clear"
  }

  /// What each is drawn for: a draw must not tell another one.
  private enum Purpose: UInt64 {
    case answer, code, observed, how
  }

  let seed: UInt64
  let shares: Shares
  /// How many of the accepted ones are seen by the user, in percent.
  let observed: Int

  func answer(to id: SendID, on platform: Approval.Platform) -> Answer {
    let drawn = draw(id, .answer, below: 100)
    if drawn < shares.accepted { return .accepted }
    if drawn < shares.accepted + shares.unregistered {
      return .unregistered(code: platform == .ios ? "Unregistered" : "UNREGISTERED")
    }
    let codes = Self.rejections(platform)
    return .rejected(code: codes[draw(id, .code, below: codes.count)])
  }

  /// Of Google's one makes the device bounce and one changes nothing.
  private static func rejections(_ platform: Approval.Platform) -> [String] {
    switch platform {
    case .ios: ["TopicDisallowed", "TooManyRequests"]
    case .android: ["SENDER_ID_MISMATCH", "QUOTA_EXCEEDED"]
    }
  }

  /// Whether and how the user of an accepted send shows to have seen it.
  func observation(of id: SendID) -> Observation? {
    guard draw(id, .observed, below: 100) < observed else { return nil }
    return draw(id, .how, below: 3) == 0 ? .badgeClear : .tap
  }

  private func draw(_ id: SendID, _ purpose: Purpose, below bound: Int) -> Int {
    id.draw(seed: seed, purpose: purpose.rawValue, below: bound)
  }
}

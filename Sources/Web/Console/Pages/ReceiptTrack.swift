import Evidence

/// From the gate's yes to somebody's eye, in three steps that are never mixed up (requirements R1,
/// R2): the gate approved it, the provider accepted it, the user saw it. What is known is filled,
/// what is not is an empty place with its name. Tray and square are the provider's mark, eye and
/// circle the user's.
struct ReceiptTrack {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  func html(_ attempt: EvidenceAttempt) -> HTML {
    """
    <ol class="track">
    <li class="done is-passed"><span class="mark passed">\(ConsoleIcon.check)</span>\
    <span><b>\(words[StoryPhrase.approvedMark])</b><small>\(context.time(attempt.atMs))</small></span></li>
    \(provider(attempt))
    \(user(attempt))
    </ol>
    """
  }

  /// An acceptance counts however many rejections came before: a dispatcher tries again.
  private func provider(_ attempt: EvidenceAttempt) -> HTML {
    if let accepted = attempt.receipts.last(where: { $0.kind == .accepted }) {
      return step("is-given", Self.accepted, words[StoryPhrase.acceptedMark], about(accepted))
    }
    if let rejected = attempt.receipts.last(where: { $0.kind == .rejected }) {
      return step("is-refused", Self.rejected, words[StoryPhrase.rejectedMark], about(rejected))
    }
    if let other = attempt.receipts.last(where: { $0.kind == .other }) {
      return step("", Self.open, words[StoryPhrase.otherReceipt], about(other))
    }
    return """
      <li><span class="mark">\(ConsoleIcon.tray)</span><span>\(words[StoryPhrase.noAnswer])</span></li>
      """
  }

  private func user(_ attempt: EvidenceAttempt) -> HTML {
    guard let seen = attempt.receipts.first(where: { $0.kind == .userObserved }) else {
      return """
        <li><span class="mark eyes">\(ConsoleIcon.eye)</span><span>\(words[StoryPhrase.notSeen])</span></li>
        """
    }
    return step("is-saw", Self.seen, words[StoryPhrase.seenMark], about(seen))
  }

  private func step(_ kind: HTML, _ mark: HTML, _ name: String, _ about: HTML) -> HTML {
    "<li class=\"done \(kind)\">\(mark)<span><b>\(name)</b><small>\(about)</small></span></li>"
  }

  private func about(_ receipt: EvidenceReceipt) -> HTML {
    var parts: [HTML] = [context.time(receipt.atMs)]
    if let provider = receipt.provider { parts.append("\(words.value(provider))") }
    if let via = receipt.via { parts.append("\(words.value(via))") }
    if let code = receipt.code { parts.append("<code>\(code)</code>") }
    return HTML.joined(parts, by: " · ")
  }

  static let accepted: HTML = "<span class=\"mark given\">\(ConsoleIcon.tray)</span>"
  static let seen: HTML = "<span class=\"mark eyes saw\">\(ConsoleIcon.eye)</span>"
  static let rejected: HTML = "<span class=\"mark refused\">\(ConsoleIcon.cross)</span>"
  static let open: HTML = "<span class=\"mark\">\(ConsoleIcon.tray)</span>"

  /// What the two marks mean, above every list of attempts.
  static func legend(_ words: ConsoleWords) -> HTML {
    """
    <ul class="legend">
    <li>\(accepted)<span><b>\(words[StoryPhrase.acceptedMark])</b><br>\(words[StoryPhrase.acceptedMeans])</span></li>
    <li>\(seen)<span><b>\(words[StoryPhrase.seenMark])</b><br>\(words[StoryPhrase.seenMeans])</span></li>
    </ul>
    """
  }

  /// Receipts that belong to no approval on record.
  func others(_ receipts: [EvidenceReceipt]) -> HTML {
    guard !receipts.isEmpty else { return .nothing }
    let items = receipts.map { receipt -> HTML in
      let (mark, name): (HTML, StoryPhrase) =
        switch receipt.kind {
        case .accepted: (Self.accepted, .acceptedMark)
        case .rejected: (Self.rejected, .rejectedMark)
        case .userObserved: (Self.seen, .seenMark)
        case .other: (Self.open, .otherReceipt)
        }
      let device = receipt.deviceID.map { context.device($0) } ?? .nothing
      return "<li>\(mark)<span><b>\(words[name])</b> \(device)<br>\(about(receipt))</span></li>\n"
    }
    return "<ul class=\"legend card\">\n\(items)</ul>"
  }
}

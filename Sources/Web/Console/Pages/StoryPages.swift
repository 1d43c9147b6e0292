import Evidence
import Gate
import Preferences

/// A user's page: what would happen now, then what happened.
struct UserPage {
  let context: ConsoleContext
  var story: UserStory
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let id = story.userID.text
    let now =
      story.isFirstPage ? NowPanelView(context: context).html(story) : HTML.nothing
    let main: HTML = """
      <div class="heading"><div><div class="kind">\(words[StoryPhrase.user])</div>
      <h1><bdi>\(id)</bdi></h1></div>\(selfTest)</div>
      \(ConsoleNotes.noIndex(context))
      \(now)
      <section aria-labelledby="happened">
      <h2 id="happened">\(words[StoryPhrase.timelineTitle])</h2>
      \(ReceiptTrack.legend(words))
      \(TimelineView(context: context).html(story.timeline))
      </section>
      \(more)
      """
    return ConsoleFrame(context: context).page(title: id, query: id, main)
  }

  /// Whether what is shown here can be believed, by the newest self-test.
  private var selfTest: HTML {
    guard let index = story.index else { return .nothing }
    let link = context.link("/console/selftest")
    guard let run = index.newestSelfTest else {
      return "<a class=\"soft\" href=\"\(link)\">\(words[StoryPhrase.selfTestNever])</a>"
    }
    let hasPassed = run.outcome == .passed
    let text = words[
      hasPassed ? StoryPhrase.selfTestPassed : .selfTestFailed,
      ("time", ConsoleContext.utc(run.atMs))]
    let pill = AttemptView.pill(hasPassed ? .approved : .dropped, text)
    return "<a href=\"\(link)\">\(pill)</a>"
  }

  private var more: HTML {
    let path = "/console/users/\(PercentText.encode(story.userID.text))"
    let until = story.nextUntilMs
    return ConsoleNotes.pages(
      context, newest: story.isFirstPage ? nil : context.link(path),
      older: story.next.map {
        context.link(path, ("before", $0.text), ("until", "\(until)"))
      })
  }
}

struct NotificationPage {
  let context: ConsoleContext
  var story: NotificationStory
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    // Oldest first: a notification's page is read as a story.
    let decisions = Timeline(story.attempts, []).items.map { item -> HTML in
      guard case .decisions(let attempts) = item else { return .nothing }
      let view = AttemptView(context: context)
      return """
        <article class="card">
        <div class="top">\(context.time(attempts[0].atMs))\(about(attempts[0]))</div>
        \(attempts.map { view.html($0) })
        </article>

        """
    }
    let main: HTML = """
      <div class="heading"><div><div class="kind">\(words[StoryPhrase.notification])</div>
      <h1><bdi>\(story.notificationID)</bdi></h1></div></div>
      \(ConsoleNotes.behind(context))
      \(ReceiptTrack.legend(words))
      \(decisions)
      \(rest)
      \(ReceiptTrack(context: context).others(story.otherReceipts))
      """
    return ConsoleFrame(context: context)
      .page(title: story.notificationID, query: story.notificationID, main)
  }

  /// An id that went to many: all of a user's decisions stand on the user's page.
  private var rest: HTML {
    guard !story.isWhole else { return .nothing }
    let text = words[StoryPhrase.onlyFirst, ("number", "\(story.attempts.count)")]
    return "<p class=\"notice\">\(text)</p>"
  }

  private func about(_ attempt: EvidenceAttempt) -> HTML {
    var parts: [HTML] = ["<span class=\"tag\">\(words.category(attempt.category))</span>"]
    for name in [attempt.event, attempt.subtype] {
      if let name { parts.append("<span class=\"tag\"><bdi>\(name)</bdi></span>") }
    }
    if let user = attempt.userID {
      parts.append("<span>\(words[StoryPhrase.user]) \(context.user(user))</span>")
    }
    return HTML.joined(parts, by: "\n")
  }
}

struct DevicePage {
  let context: ConsoleContext
  var story: DeviceStory
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let holder: HTML =
      story.holder.map { "<span>\(words[StoryPhrase.user]) \(context.user($0.text))</span>" }
      ?? .nothing
    let path = "/console/devices/\(PercentText.encode(story.deviceID))"
    let main: HTML = """
      <div class="heading"><div><div class="kind">\(words[StoryPhrase.device])</div>
      <h1><bdi>\(story.deviceID)</bdi></h1></div>\(holder)</div>
      \(ConsoleNotes.noIndex(context))
      \(ReceiptTrack.legend(words))
      \(TimelineView(context: context, namesUsers: true).html(story.timeline))
      \(ConsoleNotes.pages(
        context, newest: story.isFirstPage ? nil : context.link(path),
        older: story.next.map { context.link(path, ("before", $0.text)) }))
      """
    return ConsoleFrame(context: context)
      .page(title: story.deviceID, query: story.deviceID, main)
  }
}

/// Pieces of more than one page.
enum ConsoleNotes {
  static func noIndex(_ context: ConsoleContext) -> HTML {
    guard context.index == nil else { return behind(context) }
    let words = context.words
    return """
      <p class="notice"><b>\(words[FramePhrase.noIndex]).</b> \(words[FramePhrase.noIndexText])</p>
      """
  }

  /// At the top, since somebody who looks for what is not there yet would take it for never sent.
  static func behind(_ context: ConsoleContext) -> HTML {
    guard let text = context.index?.behind(context.nowMs, context.words) else { return .nothing }
    return """
      <p class="notice" role="status"><b>\(text).</b> \(context.words[FramePhrase.behindText])</p>
      """
  }

  static func pages(_ context: ConsoleContext, newest: String?, older: String?) -> HTML {
    func button(_ link: String?, _ name: StoryPhrase) -> HTML {
      guard let link else { return .nothing }
      return "<a class=\"button quiet\" href=\"\(link)\">\(context.words[name])</a>\n"
    }
    return "<p class=\"more\">\(button(newest, .newest))\(button(older, .older))</p>"
  }
}

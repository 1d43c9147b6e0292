import Gate

/// Where one signs in.
struct SignInPage {
  let context: ConsoleContext
  /// Why it did not work; nil on the first look.
  var problem: FramePhrase?
  /// Where to go afterwards, an address of the console.
  var next: String
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let alert: HTML =
      problem.map { "<p class=\"notice bad\" role=\"alert\">\(words[$0])</p>" } ?? .nothing
    let main: HTML = """
      <div class="card narrow">
      <h1>\(words[FramePhrase.console])</h1>
      <p class="soft">\(words[FramePhrase.signInText])</p>
      \(alert)
      <form method="post" action="\(context.link("/console/login"))" class="stack">
      <input name="name" value="sendgate" autocomplete="username" hidden>
      <label for="token"><b>\(words[FramePhrase.token])</b> \
      <span class="soft">\(words[FramePhrase.tokenHelp])</span></label>
      <input id="token" name="token" type="password" required maxlength="256" \
      autocomplete="current-password" autofocus>
      <input type="hidden" name="next" value="\(next)">
      <button class="button" type="submit">\(words[FramePhrase.signIn])</button>
      </form>
      </div>
      """
    return ConsoleFrame(context: context).page(title: words[FramePhrase.signIn], main)
  }
}

/// Where a search begins, and what it found where that is not one thing.
struct HomePage {
  let context: ConsoleContext
  /// What was looked for; nil: nothing yet.
  var query: String?
  var matches: [SupportDesk.Match] = []
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let main: HTML = """
      <div class="card">
      <h1>\(words[FramePhrase.homeTitle])</h1>
      <p>\(words[FramePhrase.homeText]) <span class="soft">\(words[FramePhrase.searchHelp])</span></p>
      </div>
      \(found)
      \(ConsoleNotes.noIndex(context))
      \(ReceiptTrack.legend(words))
      """
    return ConsoleFrame(context: context)
      .page(title: words[FramePhrase.console], query: query ?? "", main)
  }

  private var found: HTML {
    guard let query else { return .nothing }
    guard !matches.isEmpty else {
      return """
        <p class="notice" role="status">\(words[FramePhrase.searchNothing, ("id", query)])</p>
        """
    }
    let items = matches.map { match -> HTML in
      switch match {
      case .user: "<li>\(words[FramePhrase.asUser]) \(context.user(query))</li>"
      case .notification:
        "<li>\(words[FramePhrase.asNotification]) \(context.notification(query))</li>"
      case .device: "<li>\(words[FramePhrase.asDevice]) \(context.device(query))</li>"
      }
    }
    return """
      <div class="card" role="status"><p>\(words[FramePhrase.searchSeveral, ("id", query)])</p>
      <ul>\(items)</ul></div>
      """
  }
}

/// A page that says that there is nothing to show.
struct MessagePage {
  let context: ConsoleContext
  var title: FramePhrase
  var text: FramePhrase
  /// What is not there could be there, were there an index.
  var isOfRecords = false

  var bytes: [UInt8] {
    let words = context.words
    return ConsoleFrame(context: context).page(
      title: words[title],
      """
      \(isOfRecords ? ConsoleNotes.noIndex(context) : ConsoleNotes.behind(context))
      <div class="card narrow"><h1>\(words[title])</h1>
      <p>\(words[text])</p></div>
      """)
  }
}

/// Every reason code in words.
struct ReasonsPage {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  var bytes: [UInt8] {
    let rows = ReasonRegistry.shared.entries.map { entry -> HTML in
      let who = words.list(entry.who.map { words[$0] })
      let link: HTML = entry.link.map { "<br>→ \(words[$0.words])" } ?? .nothing
      return """
        <tr id="\(entry.code)"><th scope="row"><code>\(entry.code)</code></th>
        <td>\(AttemptView.pill(entry.outcome, words.outcome(entry.outcome)))</td>
        <td>\(HTML.marked(words[entry.words]))</td><td>\(who)</td>
        <td>\(HTML.marked(words[entry.remedy]))\(link)</td></tr>

        """
    }
    let main: HTML = """
      <h1>\(words[ChartPhrase.reasonsTitle])</h1>
      <p class="soft">\(words[ChartPhrase.reasonsText])</p>
      <div class="card"><table class="plain stacked">
      <thead><tr><th scope="col">\(words[ChartPhrase.code])</th>\
      <th scope="col">\(words[ChartPhrase.outcome])</th>\
      <th scope="col">\(words[ChartPhrase.meaning])</th>\
      <th scope="col">\(words[StoryPhrase.whoCanAct])</th>\
      <th scope="col">\(words[StoryPhrase.remedy])</th></tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      """
    return ConsoleFrame(context: context).page(title: words[ChartPhrase.reasonsTitle], main)
  }
}

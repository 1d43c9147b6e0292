import Gate

/// The pages of an unsubscribe link: functions of what they show alone.
enum UnsubscribePage: Equatable, Sendable {
  /// What a link leads to. With a script it posts by itself, without one there is a button.
  case ask(Category, token: String, Onward)
  /// `undo` is a token; nil where there is nothing to undo, as it is muted by another choice.
  case muted(Category, undo: String?, Onward)
  /// An undo link that was opened, not posted.
  case askUndo(Category, token: String, Onward)
  case undone(Category, Onward)
  /// The link had been used, and the user has chosen otherwise since.
  case stillOn(Category, token: String, Onward)

  /// What every form and link of a page needs.
  struct Onward: Equatable, Sendable {
    /// Of this page.
    var token: String
    /// Of the settings page.
    var settings: String
    /// Told with each form, so that sending it twice counts once.
    var once: String
  }

  func bytes(_ language: PageLanguage) -> [UInt8] {
    let words = PageWords(language: language)
    switch self {
    case .ask(let category, let token, let onward):
      let main: HTML = """
        <h1>\(words[.askTitle, category])</h1>
        <p>\(words[.askText])</p>
        <form method="post" action="\(PageLayout.address(token, language))" id="act">
        <div class="buttons">
        <button class="button" type="submit">\(words[.askButton, category])</button>
        \(settings(onward, words))
        </div>
        </form>
        """
      return layout(words, onward, hasAutomaticPost: true)
        .page(title: words[.askTitle, category], main)
    case .muted(let category, let undo, let onward):
      let next =
        undo.map { form($0, onward, words, button: words[.undoButton], isQuiet: true) }
        ?? "<div class=\"buttons\">\(settings(onward, words))</div>"
      let main: HTML = """
        <h1>\(words[.mutedTitle, category])</h1>
        <p>\(words[.mutedText])</p>
        \(next)
        """
      return layout(words, onward).page(title: words[.mutedTitle, category], main)
    case .askUndo(let category, let token, let onward):
      let main: HTML = """
        <h1>\(words[.undoTitle, category])</h1>
        <p>\(words[.undoText])</p>
        \(form(token, onward, words, button: words[.undoButton], isQuiet: false))
        """
      return layout(words, onward).page(title: words[.undoTitle, category], main)
    case .undone(let category, let onward):
      let main: HTML = """
        <h1>\(words[.undoneTitle])</h1>
        <p>\(words[.undoneText, category])</p>
        <div class="buttons">\(settings(onward, words))</div>
        """
      return layout(words, onward).page(title: words[.undoneTitle], main)
    case .stillOn(let category, let token, let onward):
      let main: HTML = """
        <h1>\(words[.stillOnTitle, category])</h1>
        <p>\(words[.stillOnText])</p>
        \(form(token, onward, words, button: words[.askButton, category], isQuiet: false))
        """
      return layout(words, onward).page(title: words[.stillOnTitle, category], main)
    }
  }

  private func layout(
    _ words: PageWords, _ onward: Onward, hasAutomaticPost: Bool = false
  ) -> PageLayout {
    PageLayout(words, here: onward.token, hasAutomaticPost: hasAutomaticPost)
  }

  private func form(
    _ token: String, _ onward: Onward, _ words: PageWords, button: String, isQuiet: Bool
  ) -> HTML {
    """
    <form method="post" action="\(PageLayout.address(token, words.language))">
    <input type="hidden" name="once" value="\(onward.once)">
    <div class="buttons">
    <button class="button \(isQuiet ? "quiet" : "loud")" type="submit">\(button)</button>
    \(settings(onward, words))
    </div>
    </form>
    """
  }

  private func settings(_ onward: Onward, _ words: PageWords) -> HTML {
    let link = PageLayout.address("../s/\(onward.settings)", words.language)
    return "<a href=\"\(link)\">\(words[.allSettings])</a>"
  }
}

/// Pages that say that something was not done.
enum RefusalPage: CaseIterable, Sendable {
  case deadLink, busy, tooMany, badForm

  func bytes(_ language: PageLanguage) -> [UInt8] {
    let words = PageWords(language: language)
    let (title, text): (Phrase, Phrase) =
      switch self {
      case .deadLink: (.deadTitle, .deadText)
      case .busy: (.busyTitle, .busyText)
      case .tooMany: (.tooManyTitle, .tooManyText)
      case .badForm: (.badFormTitle, .badFormText)
      }
    return PageLayout(words).page(
      title: words[title], "<h1>\(words[title])</h1>\n<p>\(words[text])</p>")
  }
}

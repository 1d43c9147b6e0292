import Evidence
import Gate

/// What every page of the console knows of its visit.
struct ConsoleContext: Sendable {
  var words: ConsoleWords
  var nowMs: Int64
  /// The name of the token that signed in; nil on the page where one does.
  var bearer: String?
  /// This page's address in the console, without `lang`.
  var here: String
  /// Nil where no index is kept.
  var index: IndexState?
  /// What the clocks of a zone showed at an instant; nil where it is no zone.
  var localTime: @Sendable (_ ms: Int64, _ zone: String) -> String? = { _, _ in nil }

  /// An address of the console in this language.
  func link(_ path: String, _ arguments: (name: String, value: String)...) -> String {
    Self.link(path, arguments, words.language)
  }

  static func link(
    _ path: String, _ arguments: [(name: String, value: String)], _ language: PageLanguage
  ) -> String {
    let query = (arguments + [("lang", language.rawValue)])
      .map { "\($0.name)=\(PercentText.encode($0.value))" }.joined(separator: "&")
    return path + (path.contains("?") ? "&" : "?") + query
  }

  func user(_ id: String) -> HTML { entry("users", id) }
  func notification(_ id: String) -> HTML { entry("notifications", id) }
  func device(_ id: String) -> HTML { entry("devices", id) }

  /// Ids are isolated, so that one written from right to left turns nothing around beside it.
  private func entry(_ kind: String, _ id: String) -> HTML {
    "<a class=\"id\" href=\"\(link("/console/\(kind)/\(PercentText.encode(id))"))\"><bdi>\(id)</bdi></a>"
  }

  /// An instant, to the second, UTC; to the millisecond in the machine's form.
  func time(_ ms: Int64) -> HTML {
    "<time datetime=\"\(Instant.text(ms))\">\(Self.utc(ms))</time>"
  }

  /// The same without the day.
  func clock(_ ms: Int64) -> HTML {
    "<time datetime=\"\(Instant.text(ms))\">\(String(Instant.text(ms).dropFirst(11).prefix(8)))</time>"
  }

  /// As it stands in a sentence, where a window's own clock may be told beside it.
  static func utc(_ ms: Int64) -> String { "\(text(ms)) UTC" }

  static func text(_ ms: Int64) -> String {
    let text = Instant.text(ms)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
  }

  static func day(_ ms: Int64) -> String { String(Instant.text(ms).prefix(10)) }
}

/// The frame of the console's pages: bar, content, foot. No page has a script.
struct ConsoleFrame {
  let context: ConsoleContext
  private var words: ConsoleWords { context.words }

  /// - Parameter query: what the search field holds.
  func page(title: String, query: String = "", _ main: HTML) -> [UInt8] {
    let document: HTML = """
      <!DOCTYPE html>
      <html lang="\(words.language.tag)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title) · \(words[FramePhrase.product])</title>
      <style>\(HTML.source(ConsoleStyle.text))</style>
      </head>
      <body>
      <a class="skip" href="#main">\(words[FramePhrase.skip])</a>
      \(bar(query))
      <main id="main">
      \(main)
      </main>
      \(foot)
      </body>
      </html>

      """
    return Array(document.text.utf8)
  }

  private func bar(_ query: String) -> HTML {
    guard context.bearer != nil else {
      return
        "<header class=\"bar\"><span class=\"brand\">\(ConsoleIcon.gate)sendgate</span></header>"
    }
    return """
      <header class="bar">
      <a class="brand" href="\(context.link("/console"))">\(ConsoleIcon.gate)sendgate</a>
      <form class="find" method="get" action="/console" role="search">
      <label class="away" for="q">\(words[FramePhrase.searchLabel])</label>
      <input id="q" name="q" value="\(HTML.field(query))" maxlength="128" autocomplete="off" autocapitalize="off" \
      spellcheck="false" placeholder="\(words[FramePhrase.searchLabel])">
      <input type="hidden" name="lang" value="\(words.language.rawValue)">
      <button class="button" type="submit">\(words[FramePhrase.search])</button>
      </form>
      <nav class="places">
      \(place("/console/charts", .charts))
      \(place("/console/selftest", .selfTest))
      \(place("/console/reasons", .reasons))
      </nav>
      </header>
      """
  }

  private func place(_ path: String, _ name: FramePhrase) -> HTML {
    let isHere = context.here == path || context.here.hasPrefix(path + "?")
    let current: HTML = isHere ? " aria-current=\"page\"" : .nothing
    return "<a href=\"\(context.link(path))\"\(current)>\(words[name])</a>"
  }

  private var foot: HTML {
    let others = PageLanguage.allCases.filter { $0 != words.language }.map { other -> HTML in
      let link = ConsoleContext.link(context.here, [], other)
      return
        "<a href=\"\(link)\" hreflang=\"\(other.tag)\" lang=\"\(other.tag)\">\(other.ownName)</a>"
    }
    return """
      <footer class="foot">
      \(index)
      <nav aria-label="\(words[FramePhrase.language])">\(others)</nav>
      \(signOut)
      </footer>
      """
  }

  private var signOut: HTML {
    guard let bearer = context.bearer else { return .nothing }
    return """
      <form method="post" action="\(context.link("/console/logout"))">
      <span>\(words[FramePhrase.signedInAs, ("name", bearer)])</span>
      <button class="button quiet" type="submit">\(words[FramePhrase.signOut])</button>
      </form>
      """
  }

  /// How far what is shown can be trusted to be everything.
  private var index: HTML {
    guard let index = context.index else { return .nothing }
    guard let text = index.behind(context.nowMs, words) else {
      return "<span class=\"fresh\">\(words[FramePhrase.upToDate])</span>"
    }
    return "<span class=\"stale\">\(text)</span>"
  }

  /// Ids stand in addresses: none goes out as a referrer. Nothing but the page's own style is loaded,
  /// nothing is run, and no other page can hold this one in a frame.
  static let headers: [HTTPField] = [
    HTTPField("Content-Type", "text/html; charset=utf-8"),
    HTTPField(
      "Content-Security-Policy",
      "default-src 'none'; style-src '\(PageLayout.hash(ConsoleStyle.text))';"
        + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    HTTPField("Referrer-Policy", "no-referrer"),
    HTTPField("X-Robots-Tag", "noindex, nofollow"),
    HTTPField("X-Frame-Options", "DENY"),
    HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
    HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
    HTTPField("Vary", "Accept-Language, Cookie"),
  ]
}

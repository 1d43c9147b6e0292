import CCrypto

/// What all pages have in common: the frame, the looks, and the headers that keep a page with a token in
/// its address from telling it to anybody.
struct PageLayout {
  let words: PageWords
  /// The address of this page relative to itself, without `lang`; nil: it has no other language.
  var here: String?
  var hasAutomaticPost = false

  init(_ words: PageWords, here: String? = nil, hasAutomaticPost: Bool = false) {
    self.words = words
    self.here = here
    self.hasAutomaticPost = hasAutomaticPost
  }

  func page(title: String, _ main: HTML) -> [UInt8] {
    let script: HTML =
      hasAutomaticPost ? "<script>\(HTML.source(Self.script))</script>" : HTML.nothing
    let document: HTML = """
      <!DOCTYPE html>
      <html lang="\(words.language.tag)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title)</title>
      <style>\(HTML.source(Self.style))</style>
      </head>
      <body>
      <main>
      \(main)
      </main>
      \(footer)
      \(script)
      </body>
      </html>

      """
    return Array(document.text.utf8)
  }

  private var footer: HTML {
    guard let here else { return .nothing }
    let others = PageLanguage.allCases.filter { $0 != words.language }.map { other -> HTML in
      let link = Self.address(here, other)
      return
        "<a href=\"\(link)\" hreflang=\"\(other.tag)\" lang=\"\(other.tag)\">\(other.ownName)</a>"
    }
    return "<footer><nav aria-label=\"\(words[.otherLanguage])\">\(others)</nav></footer>"
  }

  /// A relative address in a language. Every link says it, so that who has chosen one keeps it.
  static func address(_ path: String, _ language: PageLanguage) -> String {
    "\(path)?lang=\(language.rawValue)"
  }

  /// The token stands in the address: no address of ours goes out as a referrer, nothing but what is
  /// named here is loaded or run, and no other page can hold this one in a frame.
  static let headers: [HTTPField] = [
    HTTPField("Content-Type", "text/html; charset=utf-8"),
    HTTPField("Content-Security-Policy", policy),
    HTTPField("Referrer-Policy", "no-referrer"),
    HTTPField("X-Robots-Tag", "noindex, nofollow"),
    HTTPField("X-Frame-Options", "DENY"),
    HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
    HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
    HTTPField("Vary", "Accept-Language"),
  ]

  private static let policy =
    "default-src 'none'; style-src '\(hash(style))'; script-src '\(hash(script))';"
    + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

  /// As a policy names a script or a style (CSP level 3, section 2.3.1).
  static func hash(_ source: StaticString) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    cc_sha256(source.utf8Start, source.utf8CodeUnitCount, &digest)
    var text = [UInt8](repeating: 0, count: 45)
    let count = cc_base64(digest, digest.count, &text)
    return "sha256-" + String(decoding: text.prefix(count), as: UTF8.self)
  }

  /// Posts once the page is seen. Browsers load pages that nobody has opened yet, from a guess in the
  /// address bar, and run their scripts: those are not visible.
  private static let script: StaticString = """
    (function () {
      function post() {
        if (document.visibilityState !== "visible") return;
        document.removeEventListener("visibilitychange", post);
        document.getElementById("act").submit();
      }
      document.addEventListener("visibilitychange", post);
      post();
    })();
    """

  private static let style: StaticString = """
    :root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #16191d; --soft: #565d66;
      --line: #d5d9df; --act: #0b57d0; --on-act: #fff; --off: #70777f; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #101214; --card: #1b1e22; --text: #eceef1; --soft: #a9b0b9; --line: #363b42;
        --act: #8ab4f8; --on-act: #0b1320; --off: #8a919a; }
    }
    * { box-sizing: border-box; }
    body { margin: 0; padding: 24px 16px; background: var(--back); color: var(--text);
      font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC",
        "Noto Sans CJK SC", sans-serif; }
    main { max-width: 560px; margin: 0 auto; padding: 24px; background: var(--card);
      border: 1px solid var(--line); border-radius: 12px; }
    h1 { margin: 0 0 8px; font-size: 24px; line-height: 1.3; }
    h2 { margin: 0; font-size: 17px; line-height: 1.4; }
    p { margin: 0 0 16px; }
    .soft { color: var(--soft); font-size: 15px; }
    .row p { margin: 2px 0 0; }
    .buttons { display: flex; flex-wrap: wrap; gap: 12px 24px; align-items: center; margin-top: 24px; }
    a { color: var(--act); }
    .button { display: inline-block; min-height: 44px; padding: 9px 20px; border: 1px solid var(--act);
      border-radius: 8px; background: var(--act); color: var(--on-act); font: inherit;
      font-weight: 600; text-decoration: none; cursor: pointer; }
    .quiet { background: transparent; color: var(--act); }
    .small { padding: 9px 14px; font-size: 15px; }
    :focus-visible { outline: 3px solid var(--act); outline-offset: 3px; }
    .status { margin: 0 0 16px; padding: 10px 14px; border: 1px solid var(--line);
      border-left: 4px solid var(--act); border-radius: 6px; }
    .rows { list-style: none; margin: 8px 0 0; padding: 0; }
    .row { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: center;
      justify-content: space-between; padding: 16px 0; border-top: 1px solid var(--line); }
    .row > div { flex: 1 1 160px; }
    .switch { display: inline-flex; align-items: center; gap: 10px; min-width: 96px; min-height: 44px;
      padding: 6px 4px; border: 0; border-radius: 8px; background: none; color: inherit; font: inherit;
      cursor: pointer; }
    .track { position: relative; flex: none; width: 48px; height: 28px; border: 2px solid var(--off);
      border-radius: 14px; }
    .track::after { content: ""; position: absolute; top: 3px; left: 3px; width: 18px; height: 18px;
      border-radius: 50%; background: var(--off); }
    [aria-checked="true"] .track { border-color: var(--act); background: var(--act); }
    [aria-checked="true"] .track::after { left: auto; right: 3px; background: var(--on-act); }
    footer { max-width: 560px; margin: 12px auto 0; padding: 0 24px; font-size: 15px; }
    footer a { display: inline-block; padding: 10px 0; }
    @media (forced-colors: active) {
      .track { border-color: ButtonText; }
      .track::after { background: ButtonText; }
      [aria-checked="true"] .track::after { background: Highlight; }
    }
    """
}

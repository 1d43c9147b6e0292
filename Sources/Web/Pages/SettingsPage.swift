import Gate
import Preferences

/// The page with the four toggles: a function of what it shows alone. Each toggle is a form of one
/// button, so that it works without a script; what is blocked by the system is a link to its settings.
struct SettingsPage: Equatable, Sendable {
  var settings: AccountSettings
  /// Of this page.
  var token: String
  /// Told with each form, so that sending it twice counts once.
  var once: String
  /// What was just asked for; the page says how it is now and puts the focus there.
  var changed: Category?

  func bytes(_ language: PageLanguage) -> [UInt8] {
    let words = PageWords(language: language)
    let note: HTML =
      settings.hasDevices ? .nothing : "<p class=\"soft\">\(words[.noDevices])</p>"
    let main: HTML = """
      <h1>\(words[.settingsTitle])</h1>
      <p class="soft">\(words[.settingsText])</p>
      \(note)
      \(help(words))
      \(status(words))
      <ul class="rows">
      \(settings.toggles.map { row($0, words) })
      </ul>
      """
    return PageLayout(words, here: token).page(title: words[.settingsTitle], main)
  }

  private func status(_ words: PageWords) -> HTML {
    guard let changed else { return .nothing }
    let text =
      switch settings[changed].state {
      case .on where changed == .security: words[.securityStays, changed]
      case .on: words[.nowOn, changed]
      case .off: words[.nowOff, changed]
      case .blockedAtOSLevel: words[.nowBlocked, changed]
      }
    return "<p class=\"status\" role=\"status\">\(text)</p>"
  }

  private func row(_ toggle: AccountSettings.Toggle, _ words: PageWords) -> HTML {
    let id = "\(toggle.category.name)"
    let notes = notes(toggle, words).map { note -> HTML in "<p class=\"soft\">\(note)</p>" }
    return """
      <li class="row" id="\(id)">
      <div>
      <h2 id="\(id)-name">\(words.name(toggle.category))</h2>
      <div id="\(id)-about"><p class="soft">\(words.about(toggle.category))</p>\(notes)</div>
      </div>
      \(control(toggle, id, words))
      </li>

      """
  }

  private func notes(_ toggle: AccountSettings.Toggle, _ words: PageWords) -> [String] {
    var notes: [String] = []
    if toggle.category == .security, toggle.state == .on { notes.append(words[.securityNote]) }
    if toggle.state == .blockedAtOSLevel { return notes + [words[.blocked]] }
    if toggle.state == .on, !toggle.offOn.isEmpty {
      notes.append(words[.someOff, ("platforms", words.list(toggle.offOn))])
    }
    return notes
  }

  private func control(
    _ toggle: AccountSettings.Toggle, _ id: String, _ words: PageWords
  ) -> HTML {
    let focus: HTML = toggle.category == changed ? " autofocus" : .nothing
    guard toggle.state != .blockedAtOSLevel else {
      // A link: a switch that cannot be switched would be none.
      let links = toggle.blockedOn.map { platform -> HTML in
        let label =
          toggle.blockedOn.count > 1
          ? "\(words[.openSystemSettings]): \(words.name(platform))" : words[.openSystemSettings]
        return """
          <a class="button quiet small" href="\(settings.links[platform])" \
          aria-describedby="\(id)-name \(id)-about blocked">\(label)</a>

          """
      }
      return "\(links)"
    }
    let isOn = toggle.state == .on
    let more = blocked.isEmpty ? "" : " blocked"
    return """
      <form method="post" action="\(PageLayout.address(token, words.language))">
      <input type="hidden" name="once" value="\(once)">
      <input type="hidden" name="category" value="\(id)">
      <button class="switch" type="submit" name="to" value="\(isOn ? "off" : "on")" role="switch" \
      aria-checked="\(isOn ? "true" : "false")" aria-labelledby="\(id)-name" \
      aria-describedby="\(id)-about\(more)"\(focus)>
      <span class="track" aria-hidden="true"></span>
      <span>\(words[isOn ? .on : .off])</span>
      </button>
      </form>
      """
  }

  /// What the system blocks, and the way there by hand: whether its link works is for the browser to
  /// say.
  private func help(_ words: PageWords) -> HTML {
    let platforms = blocked
    guard !platforms.isEmpty else { return .nothing }
    let lines = platforms.map { platform -> HTML in
      let text = words[.blockedText, ("platform", words.name(platform))]
      let help = words[platform == .android ? .blockedHelpAndroid : .blockedHelpIOS]
      return "<p class=\"soft\">\(text) \(help)</p>\n"
    }
    return "<div id=\"blocked\">\n\(lines)</div>"
  }

  private var blocked: [Platform] {
    Platform.allCases.filter { platform in
      settings.toggles.contains { $0.blockedOn.contains(platform) }
    }
  }
}

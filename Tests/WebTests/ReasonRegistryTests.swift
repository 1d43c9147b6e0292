import Gate
import Preferences
import Testing

@testable import Web

@Suite struct ReasonRegistryTests {
  let registry = ReasonRegistry.shared

  @Test func itHasTheGatesCodes() {
    #expect(registry.entries.map(\.code) == Reason.allCases.map { "\($0.name)" })
    for (entry, reason) in zip(registry.entries, Reason.allCases) {
      #expect(entry.outcome == reason.outcome, "\(entry.code)")
      #expect(registry[entry.code] == entry)
    }
    #expect(registry["unheard_of"] == nil)
  }

  /// What stands between backticks is a name, the same in both languages.
  private func names(_ text: String) -> Set<Substring> {
    let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
    return Set(pieces.indices.filter { $0 % 2 == 1 }.map { pieces[$0] })
  }

  @Test func everythingIsSaidInBothLanguages() {
    func isChinese(_ text: String) -> Bool {
      text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
    }
    for entry in registry.entries {
      #expect(!entry.who.isEmpty, "\(entry.code)")
      for words in entry.who + [entry.words, entry.remedy] + (entry.link.map { [$0.words] } ?? []) {
        #expect(!words.english.isEmpty && !isChinese(words.english), "\(entry.code)")
        #expect(isChinese(words.chinese), "\(entry.code)")
        #expect(names(words.english) == names(words.chinese), "\(entry.code)")
        #expect(words[.english] == words.english && words[.chinese] == words.chinese)
      }
    }
  }

  /// What a code leads to is what the device's own settings view links to.
  @Test func theDeepLinkIsTheSettingsViews() throws {
    let link = try #require(registry["os_permission_denied"]?.link)
    let links = try #require(SettingsLinks(androidPackage: "com.example.app"))
    #expect(link.ios == links[.ios])
    #expect(link.android?.replacing("{package}", with: links.androidPackage) == links[.android])
  }

  @Test func itIsServedToEverybodyAsItIs() throws {
    try withAPI { world in
      let reply = world.ask("GET", "/v1/reasons", nil)
      #expect(reply.status == 200)
      #expect(reply.header("Content-Type") == "application/json")
      #expect(Array(reply.body.utf8) == ReasonRegistry.file)
    }
  }

  @Test(arguments: [
    (#""version": "1","#, "", "a text"),
    (#"["sending_service"]"#, #"["somebody"]"#, "no actor somebody"),
    (#""link": "app_settings""#, #""link": "nowhere""#, "no link nowhere"),
    (#""outcome": "deferred""#, #""outcome": "delayed""#, "outcome delayed"),
    (#""code": "superseded""#, #""code": "ok""#, "twice"),
    (#""reasons": ["#, #""reasons": 1, "x": ["#, "a list"),
  ]) func aFileThatIsWrongIsRefusedByName(old: String, new: String, why: String) {
    let text = String(decoding: ReasonRegistry.file, as: UTF8.self)
    #expect(text.contains(old))
    let fault = #expect(throws: RegistryFault.self) {
      try ReasonRegistry(parsing: Array(text.replacing(old, with: new).utf8))
    }
    #expect(fault?.words.contains(why) == true, "\(fault?.words ?? "")")
  }
}

import Gate
import Preferences
import Telemetry
import Testing

@testable import Evidence
@testable import Web

/// The console's words in both languages, and the one word that is never said.
@Suite struct ConsoleWordsTests {
  static let phrases: [any Bilingual] = {
    var phrases: [any Bilingual] = FramePhrase.allCases
    phrases += StoryPhrase.allCases as [any Bilingual]
    phrases += ChartPhrase.allCases as [any Bilingual]
    phrases += ValuePhrase.allCases as [any Bilingual]
    return phrases
  }()

  private func placeholders(_ text: String) -> Set<Substring> {
    Set(text.split(separator: "{").dropFirst().map { $0.prefix { $0 != "}" } })
  }

  @Test func theyAreComplete() {
    func isChinese(_ text: String) -> Bool {
      text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
    }
    for phrase in Self.phrases {
      let (english, chinese) = phrase.words
      #expect(!english.isEmpty && !isChinese(english), "\(phrase)")
      #expect(isChinese(chinese), "\(phrase)")
      #expect(placeholders(english) == placeholders(chinese), "\(phrase)")
    }
  }

  @Test func everyValueOfTheVocabularyHasWords() {
    let words = ConsoleWords(language: .chinese)
    var values = Choice.allCases.map { "\($0.name)" }
    values += OSPermission.allCases.map { "\($0.name)" } + TokenStatus.allCases.map { "\($0.name)" }
    values += Suppression.allCases.map { "\($0.name)" } + Platform.allCases.map { "\($0.name)" }
    values += AuditKind.allCases.map(\.rawValue) + ChoiceSource.allCases.map { "\($0.name)" }
    values += EventOutcome.allCases.map(\.rawValue)
    for value in values { #expect(words.value(value) != value, "\(value)") }
    #expect(words.value("a value nobody knows") == "a value nobody knows")
    #expect(words.value(nil) == "无")
  }

  /// Requirements R1: what a provider takes it has accepted, and nobody says that it arrived. Pages,
  /// API, metrics and reasons have that word nowhere.
  @Test func nothingIsCalledDelivered() throws {
    let words = ["delivered", "送达", "已送到", "undelivered"]
    func check(_ text: String, _ place: String) {
      let lower = text.lowercased()
      for word in words { #expect(!lower.contains(word), "\(place) says \(word)") }
    }
    for phrase in Self.phrases { check(phrase.words.english + phrase.words.chinese, "\(phrase)") }
    for phrase in Phrase.allCases {
      check(phrase.words.english + phrase.words.chinese, "\(phrase)")
    }
    check(String(decoding: ReasonRegistry.file, as: UTF8.self), "the registry of reasons")
    try withConsole { world in
      let at = world.nowMs - 60_000
      world.evidence.set {
        $0.attempts = [
          EvidenceAttempt.made(1, .approved, reason: "ok", atMs: at).with {
            $0.receipts = EvidenceReceipt.Kind.allCases.map { .made($0, atMs: at + 1) }
          }, .made(2, atMs: at + 1),
        ]
      }
      for language in PageLanguage.allCases {
        for path in ConsoleAccessTests.paths {
          check(world.get("\(path)?lang=\(language.rawValue)").body, path)
        }
      }
      for path in ["/v1/openapi.yaml", "/v1/reasons", "/v1/evidence/users/u-1", "/metrics"] {
        check(world.api.ask("GET", path).body, path)
      }
      check(String(decoding: world.registry.render(), as: UTF8.self), "the console's metrics")
      // And what it is called instead is there.
      let page = world.get("/console/users/u-1").body
      #expect(page.contains("Accepted by the provider") && page.contains("Seen by the user"))
      #expect(world.api.ask("GET", "/v1/evidence/users/u-1").body.contains(#""kind":"accepted""#))
    }
  }
}

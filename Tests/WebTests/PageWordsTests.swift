import Gate
import Testing

@testable import Web

private func isChinese(_ character: Unicode.Scalar) -> Bool {
  (0x4E00...0x9FFF).contains(character.value)
}

private func placeholders(_ text: String) -> Set<String> {
  Set(
    text.split(separator: "{").dropFirst().compactMap { rest in
      rest.firstIndex(of: "}").map { String(rest[..<$0]) }
    })
}

/// Every phrase in both languages, with the same things to fill in, and nothing left in English.
@Test func theWordsAreComplete() {
  for phrase in Phrase.allCases {
    let (english, chinese) = phrase.words
    #expect(!english.isEmpty && !chinese.isEmpty, "\(phrase)")
    #expect(placeholders(english) == placeholders(chinese), "\(phrase)")
    #expect(!english.unicodeScalars.contains(where: isChinese), "\(phrase)")
    if phrase != .android {
      #expect(chinese.unicodeScalars.contains(where: isChinese), "\(phrase): \(chinese)")
    }
  }
  for category in Category.allCases {
    for (english, chinese) in [PageWords.words(category), PageWords.about(category)] {
      #expect(!english.unicodeScalars.contains(where: isChinese))
      #expect(!english.isEmpty && chinese.unicodeScalars.contains(where: isChinese))
    }
  }
}

/// No persuasion (requirements U1): no regret, no "are you sure", no reason to stay.
@Test func theWordsDoNotPersuade() {
  let persuading = [
    "sorry", "sure", "miss", "unfortunately", "stay with", "really", "!", "recommend", "benefit",
    "抱歉", "遗憾", "确定要", "错过", "推荐", "！",
  ]
  for phrase in Phrase.allCases {
    for text in [phrase.words.english, phrase.words.chinese] {
      for word in persuading { #expect(!text.lowercased().contains(word), "\(text)") }
    }
  }
}

@Test(arguments: [
  ([], PageLanguage.english), ([""], .english), (["de, fr"], .english), (["*"], .english),
  (["zh"], .chinese), (["zh-CN,zh;q=0.9,en;q=0.8"], .chinese), (["ZH-hant-TW"], .chinese),
  (["en-GB,en;q=0.9,zh;q=0.8"], .english), (["en;q=0.5, zh;q=0.6"], .chinese),
  (["de, zh;q=0.1"], .chinese), (["zh;q=0, en;q=0.1"], .english), (["zh;q=0"], .english),
  (["en, zh"], .english), (["zh, en"], .chinese), (["en;q=0.3", "zh;q=0.4"], .chinese),
  (["zh;q=2, en;q=0.1"], .english), (["zh;q=x"], .english), (["zhx, en"], .english),
])
func theLanguageIsTheBrowsers(headers: [String], expected: PageLanguage) {
  #expect(PageLanguage.preferred(headers) == expected)
}

@Test func theAddressOverrulesTheBrowser() {
  let asked: [(String?, PageLanguage)] = [
    ("zh", .chinese), ("en", .english), ("de", .chinese), ("", .chinese), (nil, .chinese),
  ]
  for (language, expected) in asked {
    let request = HTTPRequest(
      method: "GET", path: "/u/x", arguments: [("lang", language)],
      headers: [HTTPField("accept-language", "zh")])
    #expect(PageLanguage.of(request) == expected)
  }
}

@Test func everythingPutIntoHTMLIsEscaped() {
  let hostile = "<script>alert('x')</script>\"&amp;\u{0}é"
  let piece: HTML = "<b title=\"\(hostile)\">\(hostile)</b>"
  let escaped = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;amp;\u{0}é"
  #expect(piece.text == "<b title=\"\(escaped)\">\(escaped)</b>")
  #expect(("\(piece)\([piece, piece])" as HTML).text == piece.text + piece.text + piece.text)
}

/// Whatever a page is given, it makes no tag of it.
@Test func noValueOfAPageBecomesMarkup() {
  let hostile = "\"'><img src=x onerror=y>"
  let onward = UnsubscribePage.Onward(token: hostile, settings: hostile, once: hostile)
  let pages: [UnsubscribePage] = [
    .ask(.social, token: hostile, onward), .muted(.social, undo: hostile, onward),
    .muted(.social, undo: nil, onward), .askUndo(.social, token: hostile, onward),
    .undone(.social, onward), .stillOn(.social, token: hostile, onward),
  ]
  for language in PageLanguage.allCases {
    for page in pages {
      let text = String(decoding: page.bytes(language), as: UTF8.self)
      #expect(!text.contains("<img"))
      #expect(text.contains("&lt;img"))
    }
  }
}

/// The languages that pages speak.
enum PageLanguage: String, CaseIterable, Sendable {
  case english = "en"
  case chinese = "zh"

  /// For `lang` and `Content-Language`.
  var tag: String {
    switch self {
    case .english: "en"
    case .chinese: "zh-Hans"
    }
  }

  /// By itself, for the link that leads to it.
  var ownName: String {
    switch self {
    case .english: "English"
    case .chinese: "中文"
    }
  }

  /// What `?lang=` asks for; else what the browser would like best; else English.
  static func of(_ request: HTTPRequest) -> PageLanguage {
    let asked = request.arguments.last { $0.name == "lang" }?.value
    return asked.flatMap(PageLanguage.init) ?? preferred(request.headers("Accept-Language"))
  }

  /// RFC 9110, section 12.5.4: of the highest weight; of equal weights the first.
  static func preferred(_ headers: [String]) -> PageLanguage {
    var best: (language: PageLanguage, weight: Int)?
    for range in headers.flatMap({ $0.split(separator: ",") }) {
      let parts = range.split(separator: ";").map { ASCII.trimmed($0) }
      guard let name = parts.first?.split(separator: "-").first,
        let language = PageLanguage(rawValue: name.lowercased()),
        let weight = weight(parts.dropFirst()), weight > 0, weight > best?.weight ?? 0
      else { continue }
      best = (language, weight)
    }
    return best?.language ?? .english
  }

  /// In thousandths; nil where it cannot be read.
  private static func weight(_ parameters: ArraySlice<Substring>) -> Int? {
    guard let parameter = parameters.first else { return 1_000 }
    guard parameter.hasPrefix("q=") || parameter.hasPrefix("Q="),
      let number = Double(parameter.dropFirst(2)), (0...1).contains(number)
    else { return nil }
    return Int(number * 1_000)
  }
}

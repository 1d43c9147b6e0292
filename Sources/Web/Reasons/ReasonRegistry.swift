import CContracts
import Gate

/// Every reason code in words (requirements X9): what it means, who can act, what helps. Read from
/// deploy/contracts/reasons.json as it was when this was compiled.
struct ReasonRegistry: Sendable {
  /// One text in every language that pages speak.
  struct Words: Sendable, Equatable {
    var english: String
    var chinese: String

    subscript(_ language: PageLanguage) -> String {
      language == .english ? english : chinese
    }
  }

  /// A place that a person can be sent to.
  struct Link: Sendable, Equatable {
    var code: String
    var words: Words
    /// Nil where the app knows its own way; `{package}` stands for the app's package name.
    var ios: String?
    var android: String?
  }

  struct Entry: Sendable, Equatable {
    var code: String
    var outcome: Outcome
    /// One record for each device; false: one for the candidate, nothing of a device was looked at.
    var isAboutDevice: Bool
    var words: Words
    /// The one to ask first in front.
    var who: [Words]
    var remedy: Words
    var link: Link?
  }

  /// Rises with every change of a code.
  let version: String
  /// In the order of the rows of the decision table.
  let entries: [Entry]
  private let byCode: [String: Entry]

  /// Nil where there is no such code: a newer gate's, perhaps.
  subscript(code: String) -> Entry? { byCode[code] }

  static let file: [UInt8] = {
    var count = 0
    let start = cc_reasons(&count)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }()

  static let shared: ReasonRegistry = {
    do throws(RegistryFault) {
      return try ReasonRegistry(parsing: file)
    } catch {
      // Compiled in: nobody but who changes the file can mend it.
      preconditionFailure("deploy/contracts/reasons.json: \(error.words)")
    }
  }()

  init(parsing text: [UInt8]) throws(RegistryFault) {
    let node: RegistryNode
    do throws(JSONFault) {
      node = RegistryNode(
        try text.withUnsafeBytes { bytes in
          Result { () throws(JSONFault) in try JSONValue(bytes) }
        }.get())
    } catch {
      throw RegistryFault(words: "\(error)")
    }
    version = try node["version"].text()
    var actors: [String: Words] = [:]
    for actor in try node["actors"].elements() {
      actors[try actor["code"].text()] = try actor["words"].words()
    }
    var links: [String: Link] = [:]
    for link in try node["links"].elements() {
      let code = try link["code"].text()
      links[code] = Link(
        code: code, words: try link["words"].words(), ios: try link["ios"].optionalText(),
        android: try link["android"].optionalText())
    }
    var entries: [Entry] = []
    for reason in try node["reasons"].elements() {
      entries.append(try Self.entry(reason, actors, links))
    }
    self.entries = entries
    byCode = Dictionary(entries.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    guard byCode.count == entries.count else { throw RegistryFault(words: "a code is there twice") }
  }

  private static func entry(
    _ node: RegistryNode, _ actors: [String: Words], _ links: [String: Link]
  ) throws(RegistryFault) -> Entry {
    let code = try node["code"].text()
    let outcomeName = try node["outcome"].text()
    guard let outcome = Outcome.allCases.first(where: { "\($0.name)" == outcomeName }) else {
      throw RegistryFault(words: "\(code): outcome \(outcomeName)")
    }
    var who: [Words] = []
    for actor in try node["who"].elements() {
      let name = try actor.text()
      guard let words = actors[name] else {
        throw RegistryFault(words: "\(code): no actor \(name)")
      }
      who.append(words)
    }
    var link: Link?
    if let name = try node["link"].optionalText() {
      guard let found = links[name] else { throw RegistryFault(words: "\(code): no link \(name)") }
      link = found
    }
    return Entry(
      code: code, outcome: outcome, isAboutDevice: try node["about"].text() == "device",
      words: try node["words"].words(), who: who, remedy: try node["remedy"].words(), link: link)
  }
}

struct RegistryFault: Error, Equatable {
  var words: String
}

/// A value of the file; asking it for another type is a fault that names neither more nor less.
private struct RegistryNode {
  private let value: JSONValue

  init(_ value: JSONValue) { self.value = value }

  subscript(_ name: String) -> RegistryNode {
    guard case .object(let members) = value,
      let member = members.first(where: { $0.name == name })
    else { return RegistryNode(.null) }
    return RegistryNode(member.value)
  }

  func elements() throws(RegistryFault) -> [RegistryNode] {
    guard case .array(let elements) = value else { throw fault("a list") }
    return elements.map { RegistryNode($0) }
  }

  func text() throws(RegistryFault) -> String {
    guard case .string(let text) = value else { throw fault("a text") }
    return text
  }

  func optionalText() throws(RegistryFault) -> String? {
    if case .null = value { return nil }
    return try text()
  }

  func words() throws(RegistryFault) -> ReasonRegistry.Words {
    ReasonRegistry.Words(english: try self["en"].text(), chinese: try self["zh"].text())
  }

  private func fault(_ wanted: String) -> RegistryFault {
    RegistryFault(words: "\(wanted) is wanted in place of \(value.text.prefix(80))")
  }
}

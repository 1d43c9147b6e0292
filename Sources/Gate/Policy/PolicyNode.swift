/// A value of a policy with the path that leads to it, so that every refusal names key, value and
/// what to write instead.
struct PolicyNode {
  let path: String
  let value: JSONValue

  func refuse(_ instead: String) -> PolicyError {
    let text = value.text
    let shown = text.count > 80 ? text.prefix(80) + "…" : text[...]
    return PolicyError(description: "policy key \(path): \(shown) is refused; \(instead)")
  }

  /// The members, each named exactly: one that is missing or unknown is refused.
  func members(_ names: [String]) throws(PolicyError) -> [String: PolicyNode] {
    guard case .object(let members) = value else {
      throw refuse("write an object with \(names.joined(separator: ", "))")
    }
    var found: [String: PolicyNode] = [:]
    for member in members {
      let node = PolicyNode(path: join(member.name), value: member.value)
      guard names.contains(member.name) else {
        throw node.refuse(
          "there is no such key; the keys here are \(names.joined(separator: ", "))")
      }
      found[member.name] = node
    }
    for name in names where found[name] == nil {
      throw PolicyError(
        description: "policy key \(join(name)) is missing; every key is stated, write it")
    }
    return found
  }

  private func join(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  func string(_ instead: String) throws(PolicyError) -> String {
    guard case .string(let text) = value, !text.allSatisfy(\.isWhitespace) else {
      throw refuse(instead)
    }
    return text
  }

  /// A name that stands in records and logs: 1 to 64 bytes without control characters, which would
  /// steer whatever shows them.
  func name(_ instead: String) throws(PolicyError) -> String {
    let name = try string(instead)
    guard RecordText.isName(name) else { throw refuse(instead) }
    return name
  }

  static let nameWanted =
    "write a name of 1 to \(CandidateDecoder.textBytesMax) bytes without control characters"

  func oneOf<T>(_ choices: KeyValuePairs<String, T>) throws(PolicyError) -> T {
    let instead = "write one of \(choices.map(\.key).joined(separator: ", "))"
    let text = try string(instead)
    guard let choice = choices.first(where: { $0.key == text }) else { throw refuse(instead) }
    return choice.value
  }

  func integer(_ bounds: ClosedRange<Int64>) throws(PolicyError) -> Int64 {
    let instead = "write an integer from \(bounds.lowerBound) to \(bounds.upperBound)"
    guard case .number(let digits) = value, let number = Int64(digits), bounds.contains(number)
    else { throw refuse(instead) }
    return number
  }

  func elements() throws(PolicyError) -> [PolicyNode] {
    guard case .array(let elements) = value else { throw refuse("write a list") }
    return elements.enumerated().map {
      PolicyNode(path: "\(path)[\($0.offset)]", value: $0.element)
    }
  }

  /// What says the same thing twice was written by somebody who meant something else the second time.
  func refuseTwice(_ what: String) -> PolicyError { refuse("write \(what) once") }

  /// Names of events and subtypes, none twice, each as long as a candidate's may be.
  func nameList() throws(PolicyError) -> [String] {
    var names: [String] = []
    for element in try elements() {
      let instead = "\(Self.nameWanted), once"
      let name = try element.name(instead)
      guard !names.contains(name) else { throw element.refuse(instead) }
      names.append(name)
    }
    return names
  }

  func category() throws(PolicyError) -> Category {
    try oneOf([
      "transactional": .transactional, "security": .security, "social": .social,
      "marketing": .marketing,
    ])
  }
}

import Gate

/// The names under which the values of a closed set are kept.
struct StoredNames<Value: CaseIterable & Hashable & Sendable>: Sendable {
  private let texts: [Value: String]
  private let values: [String: Value]

  init(_ name: (Value) -> String) {
    let pairs = Value.allCases.map { ($0, name($0)) }
    texts = Dictionary(uniqueKeysWithValues: pairs)
    values = Dictionary(uniqueKeysWithValues: pairs.map { ($1, $0) })
  }

  func text(_ value: Value) -> String { texts[value]! }
  func value(_ text: String) -> Value? { values[text] }
}

/// Every set that the tables hold values of.
enum Stored {
  static let categories = StoredNames<Category> { "\($0.name)" }
  static let choices = StoredNames<Choice> { "\($0.name)" }
  static let sources = StoredNames<ChoiceSource> { "\($0.name)" }
  static let suppressions = StoredNames<Suppression> { "\($0.name)" }
  static let platforms = StoredNames<Platform> { "\($0.name)" }
  static let permissions = StoredNames<OSPermission> { "\($0.name)" }
  static let tokens = StoredNames<TokenStatus> { "\($0.name)" }
  static let kinds = StoredNames<AuditKind> { $0.rawValue }
  static let outcomes = StoredNames<EventOutcome> { $0.rawValue }
}

extension SQLValue {
  init<Value>(_ value: Value, in names: StoredNames<Value>) { self = .text(names.text(value)) }

  init<Value>(_ value: Value?, in names: StoredNames<Value>) {
    self = value.map { .text(names.text($0)) } ?? .null
  }

  init(_ id: Identifier) { self = .text(id.text) }
  init(_ id: Identifier?) { self = id.map { .text($0.text) } ?? .null }
  init(_ scope: PreferenceScope) { self = .text(scope.stored) }
}

extension SQLRow {
  /// A name of the set. Another one was written by nobody who keeps to the schema.
  func value<Value>(_ column: Int, of names: StoredNames<Value>) throws(SQLError) -> Value {
    let text = text(column)
    if let value = names.value(text) { return value }
    throw SQLError(
      .notOurs, operation: "read a row", place: "column \(column)", code: "\(Value.self)",
      reason: "it holds \"\(text)\", which is no such value")
  }

  func optionalValue<Value>(
    _ column: Int, of names: StoredNames<Value>
  ) throws(SQLError) -> Value? {
    optionalText(column) == nil ? nil : try value(column, of: names)
  }

  func identifier(_ column: Int) -> Identifier { Identifier(text(column)) }
  func optionalIdentifier(_ column: Int) -> Identifier? {
    optionalText(column).map(Identifier.init)
  }
  func scope(_ column: Int) -> PreferenceScope { PreferenceScope(stored: text(column)) }
}

extension PreferenceScope {
  /// As it stands in a column; no device's id is empty.
  var stored: String { deviceID?.text ?? "" }

  init(stored: String) { self = stored.isEmpty ? .account : .device(Identifier(stored)) }
}

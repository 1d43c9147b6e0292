/// The defaults set by `preferences.defaults`, over the policy's: three bits a category.
struct CategoryDefaults: Equatable {
  var bits: UInt32 = 0

  private static func shift(_ category: Category) -> UInt32 { UInt32(category.rawValue) * 3 }

  mutating func set(_ category: Category, on: Bool, regulatedOn: Bool) {
    clear(category)
    bits |= (1 | (on ? 2 : 0) | (regulatedOn ? 4 : 0)) << Self.shift(category)
  }

  mutating func clear(_ category: Category) { bits &= ~(7 << Self.shift(category)) }

  /// Whether the category is on for a user who chose nothing.
  @inline(__always)
  func isOn(_ category: Category, regulated: Bool, _ rules: Policy.Rules) -> Bool {
    let own = bits >> Self.shift(category)
    if own & 1 != 0 { return own & (regulated ? 4 : 2) != 0 }
    let mask = regulated ? rules.regulatedDefaultOn : rules.defaultOn
    return mask >> category.rawValue & 1 != 0
  }
}

/// A record of `preferences.defaults`.
struct DefaultRecord {
  var category: Category
  var on: Bool
  var regulatedOn: Bool

  /// Nil where it cannot be read: an unknown category, a value that is neither `on` nor `off`.
  init?(_ text: Bytes) {
    guard let tree = try? JSONValue(text), case .object(let members) = tree else { return nil }
    var values: [String: String] = [:]
    for member in members {
      if case .string(let value) = member.value { values[member.name] = value }
    }
    let category = Category.allCases.first { "\($0.name)" == values["category"] }
    let states = ["on": true, "off": false]
    guard let category, let on = values["default"].flatMap({ states[$0] }),
      let regulatedOn = values["regulated_default"].flatMap({ states[$0] })
    else { return nil }
    self.category = category
    self.on = on
    self.regulatedOn = regulatedOn
  }
}

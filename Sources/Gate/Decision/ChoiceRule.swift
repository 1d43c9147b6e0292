/// What account, device and default make of each other (decision.md, Choice): any `user-off` is off,
/// otherwise any `user-on` is on, otherwise the default decides. The gate and the settings view ask
/// the same function, so that no toggle says what the gate does not do.
enum ChoiceRule {
  @inline(__always)
  static func isOff(_ account: Choice, _ device: Choice) -> Bool {
    account == .userOff || device == .userOff
  }

  @inline(__always)
  static func isOn(
    _ account: Choice, _ device: Choice, default isOnByDefault: @autoclosure () -> Bool
  ) -> Bool {
    !isOff(account, device) && (account == .userOn || device == .userOn || isOnByDefault())
  }
}

/// The same rules for those who show a user what is on.
extension Policy {
  /// Whether the category is on for a device in that region.
  /// - Parameters:
  ///   - region: as the device wrote it; what is no assigned code is regulated.
  ///   - setDefaults: those of `preferences.defaults`; a category without one has the policy's.
  package func isOn(
    _ category: Category, account: Choice, device: Choice, region: String?,
    setDefaults: [Category: (isOn: Bool, isOnWhereRegulated: Bool)]
  ) -> Bool {
    var defaults = CategoryDefaults()
    for (category, set) in setDefaults {
      defaults.set(category, on: set.isOn, regulatedOn: set.isOnWhereRegulated)
    }
    return ChoiceRule.isOn(
      account, device,
      default: defaults.isOn(category, regulated: isRegulated(region), rules))
  }

  /// Whether nothing of the category may be sent to that region without a dated `user-on`
  /// (requirements L1).
  package func needsConsent(_ category: Category, region: String?) -> Bool {
    rules.consentBasis >> category.rawValue & 1 != 0 && isRegulated(region)
  }

  /// Whether the category is on for who chose nothing, by the policy alone.
  package func isOnByDefault(_ category: Category, regulated: Bool) -> Bool {
    CategoryDefaults().isOn(category, regulated: regulated, rules)
  }

  private func isRegulated(_ region: String?) -> Bool {
    var region = region ?? ""
    return rules.isRegulated(region.withUTF8 { Region(Bytes($0)) })
  }
}

import Testing

@testable import Gate

/// The built-in policy is the file, and says what the decision table says of it.
@Suite struct PolicyBuiltInTests {
  @Test func isTheFile() {
    let text = BuiltInPolicy.json
    let builtIn = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    #expect(Array(builtIn) == repositoryFile("deploy/policy.json"))
  }

  @Test func saysWhatTheTableSays() {
    let policy = Policy.builtIn
    let rules = policy.rules
    func names(_ mask: UInt8) -> [Gate.Category] {
      Category.allCases.filter { mask >> $0.rawValue & 1 != 0 }
    }
    #expect(
      Category.allCases.map { rules.quietHours[Int($0.rawValue)] }
        == [Policy.QuietHoursRule.defer, .bypass, .drop, .drop].map(\.rawValue))
    #expect(names(rules.dropsOnInvalidWindow) == [.social, .marketing])
    #expect(names(rules.consentBasis) == [.marketing])
    #expect(names(rules.defaultOn) == Category.allCases)
    #expect(names(rules.regulatedDefaultOn) == [.transactional, .security, .social])
    #expect(names(rules.suppressionBlocks[0]) == Category.allCases)
    #expect(names(rules.suppressionBlocks[1]) == [.transactional, .social, .marketing])
    #expect(names(rules.suppressionBlocks[2]) == Category.allCases)
    #expect(rules.payloadBytesMax == 4_096 && rules.recordBytesMax == 65_536)
    #expect(rules.holdMaxMs == 72 * 3_600_000)
    #expect(policy.fallbackTimezone == "UTC")
    #expect(policy.preferencesStaleSecondsMax(.ordinary) == 300)
    #expect(policy.preferencesStaleSecondsMax(.security) == nil)
    #expect(Array(rules.version) == Array(policy.version.utf8))
  }

  @Test func registry() {
    let registry: [(Gate.Category, [String])] = [
      (
        .security,
        [
          "suspicious_login", "account_takeover_blocked", "2fa_code", "password_reset",
          "login_alert",
        ]
      ),
      (.transactional, ["order_shipped", "payment_succeeded", "payment_failed"]),
      (.social, ["like", "comment", "mention", "follow"]),
      (.marketing, ["announcement", "promotion", "winback"]),
    ]
    for (category, names) in registry {
      for name in names {
        let facts = withBytes(name) { Policy.builtIn.rules.names[$0] }
        #expect(facts.registered == 1 << category.rawValue, "\(name)")
        let isCritical = ["suspicious_login", "account_takeover_blocked", "2fa_code"].contains(name)
        #expect(facts.critical == isCritical, "\(name)")
        #expect((facts.passesChoice != 0) == (name == "payment_failed"), "\(name)")
        #expect(facts.passesQuietHours == facts.passesChoice, "\(name)")
      }
    }
    for name in ["", "likes", "lik", "Like", "2fa_code_reset", "2FA_CODE", "unheard_of"] {
      #expect(withBytes(name) { Policy.builtIn.rules.names[$0] }.registered == 0, "\(name)")
    }
  }
}

/// The policy where none is named: byte for byte `deploy/policy.json`, which a test compares.
enum BuiltInPolicy {
  // swift-format-ignore: the lines are the file's
  static let json: StaticString = """
    {
      "version": "2026-03-09",
      "categories": {
        "transactional": {
          "quiet_hours_rule": "defer",
          "on_invalid_window": "outside",
          "default": "on",
          "regulated_default": "on",
          "lawful_basis": {
            "basis": "contract",
            "words": "Messages the user needs in order to receive what was bought or booked: the state of an order, a payment or a delivery. Performing the contract with the user requires them (GDPR Art. 6(1)(b))."
          },
          "caps": [],
          "registry": ["order_shipped", "payment_succeeded", "payment_failed"],
          "mutable_subtypes": []
        },
        "security": {
          "quiet_hours_rule": "bypass",
          "on_invalid_window": "outside",
          "default": "on",
          "regulated_default": "on",
          "lawful_basis": {
            "basis": "legitimate_interest",
            "words": "Warnings that let the user protect the account: a sign-in, a code, a change of password. Both sides have an interest in keeping intruders out, and a warning that waits until morning comes too late (GDPR Art. 6(1)(f), with Art. 32 on security)."
          },
          "caps": [],
          "registry": [
            "suspicious_login",
            "account_takeover_blocked",
            "2fa_code",
            "password_reset",
            "login_alert"
          ],
          "mutable_subtypes": []
        },
        "social": {
          "quiet_hours_rule": "drop",
          "on_invalid_window": "drop",
          "default": "on",
          "regulated_default": "on",
          "lawful_basis": {
            "basis": "legitimate_interest",
            "words": "News of what other members did towards the user, expected by whoever joins a social service. Each kind can be muted alone and the whole category with one tap, and nothing is sent at night (GDPR Art. 6(1)(f))."
          },
          "caps": [],
          "registry": ["like", "comment", "mention", "follow"],
          "mutable_subtypes": ["like", "comment", "mention", "follow"]
        },
        "marketing": {
          "quiet_hours_rule": "drop",
          "on_invalid_window": "drop",
          "default": "on",
          "regulated_default": "off",
          "lawful_basis": {
            "basis": "consent",
            "words": "Advertising of any kind. Where the EEA's or the United Kingdom's law applies, only to a user who asked for it by a recorded act, with its time and its source, and who can take it back with one tap (GDPR Art. 6(1)(a) and Art. 7; ePrivacy Directive Art. 13)."
          },
          "caps": [],
          "registry": ["announcement", "promotion", "winback"],
          "mutable_subtypes": []
        }
      },
      "bypass_events": [
        {
          "event": "payment_failed",
          "category": "transactional",
          "passes": ["choice", "quiet_hours"],
          "lawful_basis": {
            "basis": "contract",
            "words": "A payment that failed puts at risk what the user has already bought, and the user alone can put it right, often within hours. It is sent once, states the fact and advertises nothing (GDPR Art. 6(1)(b))."
          }
        }
      ],
      "critical_allow_list": ["suspicious_login", "account_takeover_blocked", "2fa_code"],
      "suppressions": {
        "legal_hold": ["transactional", "security", "social", "marketing"],
        "abuse_hold": ["transactional", "social", "marketing"],
        "bounced": ["transactional", "security", "social", "marketing"]
      },
      "regions_regulated_additional": [],
      "fallback_timezone": "UTC",
      "payload_bytes_max": 4096,
      "record_bytes_max": 65536,
      "hold_hours_max": 72,
      "duplicates_horizon_hours": 96,
      "duplicates_entries_max": 5000000,
      "caps_entries_max": 5000000,
      "preferences_stale_seconds_max": {
        "ordinary": 300,
        "security": null
      },
      "permission_prompt_moments": ["order_placed", "first_follow", "two_factor_enabled"]
    }

    """
}

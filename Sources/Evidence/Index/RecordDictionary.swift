/// What most records say, word for word: a record that is kept refers to it. A dictionary that was
/// released is never edited, or what was packed with it is lost: another one is added behind it.
struct RecordDictionary: Sendable {
  var number: Int64
  var text: StaticString

  static let all = [RecordDictionary(number: 1, text: first)]
  static var newest: RecordDictionary { all[all.count - 1] }

  /// One record of each kind, as the gate and dispatchers write them. LZ4 finds four equal bytes and
  /// more; of two places that say the same it takes the one nearer to the end.
  private static let first: StaticString = """
    "deliver_after":"2026-11-30T08:00:00.000Z","held":{"decided_at":"2026-11-30T02:00:00.000Z",\
    "deliver_after":"2026-11-30T07:00:00.000Z"},"superseded_by":"","cap":{"name":"daily","frees_at":\
    "2026-12-01T00:00:00.000Z"},"detail":"missing_member","detail_member":"user_id",\
    "notification_base64":"invalid":true,"days":["mon","tue","wed","thu","fri","sat","sun"]\
    "frequency_capped","superseded","expires_in_quiet_hours","quiet_hours_dropped","token_revoked",\
    "token_expired","os_permission_denied","category_default_off","subtype_muted",\
    "device_opted_out","account_opted_out","no_gdpr_consent","suppressed_bounced",\
    "suppressed_abuse_hold","suppressed_legal_hold","duplicate","no_devices","unknown_device",\
    "preferences_unreadable","unknown_user","expired","critical_not_allowed","payload_too_large",\
    "category_mismatch","unknown_category","invalid_candidate",\
    {"notification_id":"","device_id":"","user_id":"","provider":"apns","status":"rejected",\
    "code":"Unregistered","BadDeviceToken","DeviceTokenNotForTopic","UNREGISTERED",\
    "SENDER_ID_MISMATCH","INVALID_ARGUMENT","at":"2026-11-30T12:00:00.000Z"}\
    {"notification_id":"","device_id":"","user_id":"","event":"user_observed","via":"badge_clear",\
    "at":"2026-11-30T12:00:00.000Z"}{"notification_id":"","device_id":"","user_id":"",\
    "provider":"fcm","status":"accepted","code":null,"at":"2026-11-30T12:00:00.000Z"}\
    "outcome":"deferred","reason":"quiet_hours_deferred","blocked_by":["quiet_hours_deferred"]\
    "outcome":"approved","reason":"released","blocked_by":[]"reason":"quiet_hours_bypassed"\
    "category":"security","category":"transactional","category":"social","subtype":"like"\
    "state":"user-on","device":"user-off","account":"user-on","device":"user-on","effective":true},\
    "os_permission":"provisional","os_permission":"denied","device_token_status":"revoked",\
    "device_token_status":"expired","suppression_reason":"bounced","abuse_hold","legal_hold"\
    "timezone":"America/New_York","timezone_source":"account","timezone_source":"fallback",\
    "in_window":true,"Asia/Shanghai","America/Los_Angeles","Europe/London","UTC"\
    {"user_category_opt_in":{"account":null,"device":null,"effective":null},"os_permission":null,\
    "device_token_status":null,"quiet_hours":{"start":null,"end":null,"timezone":null,\
    "timezone_source":null,"in_window":null,"ends_at":null},"suppression_reason":null},\
    "platform":"ios","interruption":"time-sensitive","interruption":"passive","critical":true,\
    {"outcome":"dropped","reason":"account_opted_out","blocked_by":["account_opted_out"],\
    "notification_id":"","user_id":"","device_id":"","category":"marketing","subtype":null,\
    "decided_at":"2026-11-30T12:00:00.000Z","policy_version":"2026-03-09","preference_version":1,\
    "preference_offset":1,"tzdb_version":"2026f","gate_version":"0.1.0","evidence":\
    {"user_category_opt_in":{"account":"default","device":"default","effective":false},\
    "os_permission":"granted","device_token_status":"active","quiet_hours":{"start":"22:00",\
    "end":"08:00","timezone":"Europe/Berlin","timezone_source":"device","in_window":false,\
    "ends_at":null},"suppression_reason":null},"platform":"android","interruption":"active",\
    "critical":false,"expires_at":null,"send_before":"2026-12-01T12:00:00.000Z",\
    "collapse_key":null,"unsubscribe_url":null,"sms_fallback":"forbidden",\
    "notification":{"notification_id":"","user_id":"","device_id":"","category":"social",\
    "subtype":"comment","event":"","critical":false,"created_at":"2026-11-30T12:00:00Z",\
    "expires_at":"2026-12-01T12:00:00Z","collapse_key":"","sms_fallback":false,\
    "payload":{"title":"","body":"","link":"https://","image":"https://"}}}
    """
}

import Gate

/// Everything kept of a user, for that user (requirements L4).
public enum ExportDocument {
  /// - Parameters:
  ///   - prompts: by device, when the system's permission prompt was shown on it.
  ///   - audit: all rows of the user, in order.
  public static func text(
    _ user: UserPreferences, prompts: [Identifier: PromptShown], audit: [AuditRow],
    exportedAtMs: Int64
  ) -> String {
    var object = JSONObject()
    object.add("exported_at", instant: exportedAtMs)
    object.add("preferences", raw: user.storedText)
    let shown = prompts.sorted { $0.key < $1.key }.map { device, prompt in
      var object = JSONObject()
      object.add("device_id", device.text)
      object.add("moment", prompt.moment.text)
      object.add("at", instant: prompt.atMs)
      return object.text
    }
    object.add("permission_prompts", raw: JSONObject.array(shown))
    object.add("audit", raw: JSONObject.array(audit.map(AuditDocument.text)))
    return object.text
  }
}

import Gate

/// What an app saw, as a receipt (requirements R2). Its key is the user id.
public enum ReceiptDocument {
  public static func text(_ observed: ObservedReceipt) -> String {
    var object = JSONObject()
    object.add("notification_id", observed.notificationID.text)
    object.add("device_id", observed.deviceID.text)
    object.add("user_id", observed.userID.text)
    object.add("event", "user_observed")
    object.add("via", observed.via.rawValue)
    object.add("at", instant: observed.atMs)
    return object.text
  }
}

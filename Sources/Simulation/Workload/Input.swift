import Gate

/// A candidate as it was issued.
struct Input {
  var number: Int
  var lane: Lane
  var partition: Int32
  var offset: Int64
  var user: String
  var notification: String
  /// Nil: every device of the user.
  var device: String?
  var category: String
  var expiresAtMs: Int64?
  var collapseKey: String?

  var json: String {
    var text =
      #"{"notification_id":"\#(notification)","user_id":"\#(user)","category":"\#(category)""#
    if let device { text += #","device_id":"\#(device)""# }
    if let expiresAtMs { text += #","expires_at":\#(expiresAtMs)"# }
    if let collapseKey { text += #","collapse_key":"\#(collapseKey)""# }
    return text + #","payload":{"n":\#(number)}}"#
  }
}

/// A preference document as it was written.
struct Document {
  struct Device {
    var id: String
    var isGranted: Bool
    /// Off for this device, by category.
    var off: Set<String>
  }
  /// Minutes of the day, the end not included.
  struct Window {
    var start: Int64
    var end: Int64
  }

  var user: String
  var version: Int
  var off: Set<String>
  var window: Window?
  var zone: String?
  var devices: [Device]

  var json: String {
    func categories(_ off: Set<String>) -> String {
      let entries = off.sorted().map {
        #""\#($0)":{"state":"user-off","at":1700000000000,"source":"in_app_settings"}"#
      }
      return "{" + entries.joined(separator: ",") + "}"
    }
    var account = #"{"categories":\#(categories(off))"#
    if let window {
      account +=
        #","quiet_hours":{"start":"\#(Self.time(window.start))","#
        + #""end":"\#(Self.time(window.end))"}"#
    }
    if let zone { account += #","timezone":"\#(zone)""# }
    let devices = devices.enumerated().map { index, device in
      #"{"device_id":"\#(device.id)","platform":"\#(index % 2 == 0 ? "ios" : "android")","#
        + #""os_permission":"\#(device.isGranted ? "granted" : "denied")","#
        + #""token_status":"active","region":"US","categories":\#(categories(device.off))}"#
    }
    return #"{"user_id":"\#(user)","version":\#(version),"account":\#(account)},"#
      + #""devices":[\#(devices.joined(separator: ","))]}"#
  }

  private static func time(_ minutes: Int64) -> String {
    let (hour, minute) = (minutes / 60, minutes % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}

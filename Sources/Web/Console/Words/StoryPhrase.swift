/// A user's page, a notification's and a device's.
enum StoryPhrase: Bilingual {
  case user, notification, device, noCategory, noDevice
  case approved, deferred, dropped
  case nowTitle, nowText, nowDocument, nowNoDocument, wouldGo, wouldWait, wouldNot, until
  case timelineTitle, timelineEmpty, older, newest, onlyFirst, thereIsMore
  case acceptedMark, acceptedMeans, seenMark, seenMeans, approvedMark
  case noAnswer, notSeen, rejectedMark, otherReceipt, selfTestOnly
  case whoCanAct, remedy, alsoBlocked, unreadableRecord
  case valuesTitle, valueChoice, valuePermission, valueToken, valueQuiet, valueSuppression
  case effectiveOn, effectiveOff, ofAccount, ofDevice, noWindow, localTime, inside, outside, endsAt,
    endsThere, invalidWindow
  case heldUntil, stillHeld, becameOf, wasHeld, heldThen, supersededBy, capName, capFrees, detail
  case sendBefore, interruption
  case policyVersion, preferenceVersion, zonesVersion, gateVersion, record
  case madeAt
  case selfTestPassed, selfTestFailed, selfTestNever

  var words: (english: String, chinese: String) {
    switch self {
    case .user: ("User", "用户")
    case .notification: ("Notification", "通知")
    case .device: ("Device", "设备")
    case .noCategory: ("no category", "无类别")
    case .noDevice: ("No device was looked at", "未涉及任何设备")
    case .approved: ("Approved", "已批准")
    case .deferred: ("Held", "已暂存")
    case .dropped: ("Dropped", "已丢弃")
    case .nowTitle: ("What would happen now", "此刻会发生什么")
    case .nowText:
      (
        "A plain notification of each category, decided by the gate's own rules at this moment."
          + " Caps and duplicates are not counted in.",
        "以闸门自身的规则，在此刻对每个类别的普通通知作出的决定。不计入频率上限和重复。"
      )
    case .nowDocument:
      (
        "At {time}, version {version} of the preferences, policy {policy}.",
        "时间 {time}，偏好版本 {version}，策略 {policy}。"
      )
    case .nowNoDocument:
      (
        "At {time}, without a preference document, policy {policy}.",
        "时间 {time}，没有偏好文档，策略 {policy}。"
      )
    case .wouldGo: ("Goes", "会发送")
    case .wouldWait: ("Waits", "会暂存")
    case .wouldNot: ("Stopped", "会被拦下")
    case .until: ("until {time}", "至 {time}")
    case .timelineTitle: ("What happened", "发生过什么")
    case .timelineEmpty: ("Nothing is on record.", "没有记录。")
    case .older: ("Older", "更早")
    case .newest: ("Newest", "最新")
    case .onlyFirst:
      (
        "Only the first {number} decisions are shown. All of one user's stand on the user's page.",
        "仅显示最初的 {number} 个决定。某位用户的全部决定见其用户页面。"
      )
    case .thereIsMore:
      ("There is more before that: --limit, or the console.", "更早的内容请用 --limit 或控制台查看。")
    case .acceptedMark: ("Accepted by the provider", "推送服务商已接收")
    case .acceptedMeans:
      (
        "APNs or FCM took it. That says nothing of a phone having shown it.",
        "APNs 或 FCM 已接收，但不代表手机已显示。"
      )
    case .seenMark: ("Seen by the user", "用户已看到")
    case .seenMeans:
      (
        "The app said so: the user tapped it, or cleared the badge.",
        "由应用告知：用户点按了通知，或清除了角标。"
      )
    case .approvedMark: ("Approved by the gate", "闸门已批准")
    case .noAnswer: ("No answer of the provider", "推送服务商尚无答复")
    case .notSeen: ("Not reported as seen", "未报告已看到")
    case .rejectedMark: ("Rejected by the provider", "推送服务商已拒绝")
    case .otherReceipt: ("Another answer", "其他答复")
    case .selfTestOnly:
      ("Self-test: goes to no dispatcher", "自检：不会交给任何分发器")
    case .whoCanAct: ("Who can act", "谁可以处理")
    case .remedy: ("What helps", "如何解决")
    case .alsoBlocked: ("Would also have been stopped by", "另外还会被以下原因拦下")
    case .unreadableRecord:
      ("The record on this place cannot be read.", "此位置上的记录无法读取。")
    case .valuesTitle: ("The five values as they were", "当时的五个值")
    case .valueChoice: ("The user's choice", "用户的选择")
    case .valuePermission: ("System permission", "系统权限")
    case .valueToken: ("Push token", "推送令牌")
    case .valueQuiet: ("Quiet hours", "免打扰时段")
    case .valueSuppression: ("Restriction", "限制")
    case .effectiveOn: ("on", "开")
    case .effectiveOff: ("off", "关")
    case .ofAccount: ("account: {value}", "账户：{value}")
    case .ofDevice: ("device: {value}", "设备：{value}")
    case .noWindow: ("none", "没有设置")
    case .localTime: ("it was {time} there", "当地时间 {time}")
    case .inside: ("inside", "处于时段内")
    case .outside: ("outside", "处于时段外")
    case .endsAt: ("ends {time}", "结束于 {time}")
    case .endsThere: ("ends {time} there", "当地时间 {time} 结束")
    case .invalidWindow: ("cannot be read", "无法读取")
    case .heldUntil: ("Held until {time}", "暂存至 {time}")
    case .stillHeld: ("Still waiting", "仍在等待")
    case .becameOf: ("What became of it", "后来的结果")
    case .wasHeld:
      ("Was held from {from} to {to}", "曾从 {from} 暂存至 {to}")
    case .heldThen: ("The decision to hold it", "当时的暂存决定")
    case .supersededBy: ("Its place was taken by", "被其取代：")
    case .capName: ("Limit {name}", "上限 {name}")
    case .capFrees: ("frees up {time}", "恢复于 {time}")
    case .detail: ("Detail", "细节")
    case .sendBefore: ("to be sent before {time}", "须在 {time} 之前发送")
    case .interruption: ("shown {how}", "显示方式：{how}")
    case .policyVersion: ("policy {version}", "策略 {version}")
    case .preferenceVersion:
      ("preferences {version} (offset {offset})", "偏好 {version}（偏移 {offset}）")
    case .zonesVersion: ("time zones {version}", "时区库 {version}")
    case .gateVersion: ("gate {version}", "闸门 {version}")
    case .record: ("record {topic}/{partition}/{offset}", "记录 {topic}/{partition}/{offset}")
    case .madeAt: ("made {time}", "操作时间 {time}")
    case .selfTestPassed: ("Self-test passed {time}", "自检通过 {time}")
    case .selfTestFailed: ("Self-test failed {time}", "自检失败 {time}")
    case .selfTestNever: ("No self-test has been run", "尚未进行自检")
    }
  }
}

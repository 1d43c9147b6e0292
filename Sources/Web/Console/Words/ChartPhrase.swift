/// The charts, the self-test's page and the list of reasons.
enum ChartPhrase: Bilingual {
  case chartsTitle, outcomesTitle, outcomesText, lastDay, lastWeek
  case quietTitle, quietText, quietNone, quietNow
  case holdsTitle, holdsText, holdsNone, noDecisions
  case figures, hour, other, utc, total, peak
  case selfTestTitle, selfTestText, selfTestNone, selfTestVersion, report, passed, failed
  case state, expected, found, agrees, differs, everythingAgrees, disagreements, nothingFound
  case history, reasonsTitle, reasonsText, code, meaning, outcome

  var words: (english: String, chinese: String) {
    switch self {
    case .chartsTitle: ("Charts", "图表")
    case .outcomesTitle: ("Decisions by reason", "按原因统计的决定")
    case .outcomesText:
      (
        "How many decisions the gate made in each hour, one for each device, and why.",
        "闸门每小时作出的决定数（每台设备一个）及其原因。"
      )
    case .lastDay: ("Last 24 hours", "最近 24 小时")
    case .lastWeek: ("Last 7 days", "最近 7 天")
    case .quietTitle: ("Quiet hours of everybody", "全体用户的免打扰时段")
    case .quietText:
      (
        "Users with at least one device in its quiet hours, at the beginning of each hour of the"
          + " coming day.", "未来一天每小时开始时，至少有一台设备处于免打扰时段的用户数。"
      )
    case .quietNone:
      ("Nobody has set quiet hours, or it is still being counted.", "没有人设置免打扰时段，或仍在统计中。")
    case .quietNow: ("Counted {time}, over {users} users", "统计于 {time}，共 {users} 位用户")
    case .holdsTitle: ("Held notifications that fall due", "即将到期的暂存通知")
    case .holdsText:
      (
        "How many holds end in each hour of the coming day, each on one device.",
        "未来一天每小时到期的暂存通知数（每台设备一条）。"
      )
    case .holdsNone: ("Nothing that is held falls due in the coming day.", "未来一天没有暂存通知到期。")
    case .noDecisions: ("No decisions in this time.", "此时间段内没有决定。")
    case .figures: ("The figures", "具体数字")
    case .hour: ("Hour", "小时")
    case .other: ("others", "其他原因")
    case .utc: ("Hours are UTC", "时间均为 UTC 时区")
    case .total: ("{number} in all", "共 {number}")
    case .peak: ("most in one hour: {number}", "单小时最多：{number}")
    case .selfTestTitle: ("Self-test", "自检")
    case .selfTestText:
      (
        "Synthetic users are driven through the running system, and what every part says of them is"
          + " compared.", "用虚构用户走完运行中的整个系统，并比对各部分的说法是否一致。"
      )
    case .selfTestNone:
      ("None has been run yet: sendgate selftest.", "尚未运行：sendgate selftest。")
    case .selfTestVersion: ("Version {version}", "版本 {version}")
    case .report: ("The whole report", "完整报告")
    case .state: ("User", "用户")
    case .expected: ("Expected", "预期")
    case .found: ("Found", "实际")
    case .agrees: ("Agrees", "一致")
    case .differs: ("Differs", "不一致")
    case .everythingAgrees: ("Everything agrees.", "全部一致。")
    case .disagreements: ("What does not agree", "不一致之处")
    case .nothingFound: ("nothing", "无")
    case .passed: ("Passed", "通过")
    case .failed: ("Failed", "失败")
    case .history: ("Earlier runs", "以往的自检")
    case .reasonsTitle: ("Reason codes", "原因代码")
    case .reasonsText:
      (
        "What each code of a record means, who can act on it, and what helps.",
        "记录中每个代码的含义、谁可以处理以及如何解决。"
      )
    case .code: ("Code", "代码")
    case .meaning: ("Meaning", "含义")
    case .outcome: ("Outcome", "结果")
    }
  }
}

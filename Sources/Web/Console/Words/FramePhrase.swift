/// The frame, signing in, search, and what is not there.
enum FramePhrase: Bilingual {
  case product, console, signIn, signInText, token, tokenHelp, signOut, signedInAs
  case signInFailed, signInForbidden, signInEnded
  case search, searchLabel, searchHelp, searchNothing, searchSeveral
  case asUser, asNotification, asDevice
  case charts, selfTest, reasons, home, skip, language
  case notFoundTitle, notFoundText, busyTitle, busyText, tooManyTitle, tooManyText
  case badFormTitle, badFormText, noIndex, noIndexText
  case upToDate, behind, behindUnknown, behindUnanswered, behindText
  case homeTitle, homeText

  var words: (english: String, chinese: String) {
    switch self {
    case .product: ("sendgate", "sendgate 发送闸门")
    case .console: ("Support console", "客服控制台")
    case .signIn: ("Sign in", "登录")
    case .signInText:
      (
        "With a token of the role support or admin. Nothing can be changed here: the console only"
          + " shows.", "请使用 support 或 admin 角色的令牌登录。此处无法更改任何内容：控制台仅供查看。"
      )
    case .token: ("Token", "令牌")
    case .tokenHelp: ("It begins with sgt_", "以 sgt_ 开头")
    case .signOut: ("Sign out", "退出登录")
    case .signedInAs: ("Signed in as {name}", "已登录：{name}")
    case .signInFailed: ("This token is not known.", "无法识别此令牌。")
    case .signInForbidden:
      (
        "This token's role is not support or admin.",
        "此令牌的角色不是 support 或 admin。"
      )
    case .signInEnded: ("You were signed out. Please sign in again.", "您已退出登录，请重新登录。")
    case .search: ("Search", "搜索")
    case .searchLabel:
      ("Id of a user, a notification or a device", "用户、通知或设备的编号")
    case .searchHelp:
      (
        "Whole ids, as they stand in records.", "请输入完整的编号，与记录中一致。"
      )
    case .searchNothing:
      ("Nothing is kept under {id}.", "没有与 {id} 相关的内容。")
    case .searchSeveral:
      ("{id} is the id of more than one thing.", "{id} 对应多个对象。")
    case .asUser: ("The user", "用户")
    case .asNotification: ("The notification", "通知")
    case .asDevice: ("The device", "设备")
    case .charts: ("Charts", "图表")
    case .selfTest: ("Self-test", "自检")
    case .reasons: ("Reasons", "原因代码")
    case .home: ("Start", "首页")
    case .skip: ("To the content", "跳到正文")
    case .language: ("Language", "语言")
    case .notFoundTitle: ("Nothing is here", "此处没有内容")
    case .notFoundText:
      (
        "Nothing is kept of it, or the address is wrong.",
        "没有保存相关内容，或地址有误。"
      )
    case .busyTitle: ("That did not work just now", "暂时无法完成")
    case .busyText: ("The store cannot answer. Please try again in a moment.", "数据库暂时无法应答，请稍后重试。")
    case .tooManyTitle: ("Too many requests", "请求过于频繁")
    case .tooManyText: ("Please try again in a moment.", "请稍后重试。")
    case .badFormTitle: ("That could not be read", "无法读取该请求")
    case .badFormText: ("Please go back and try again.", "请返回后重试。")
    case .noIndex: ("There is no index of evidence here", "此处没有证据索引")
    case .noIndexText:
      (
        "evidence.database is not set, so past decisions cannot be shown. What would happen now can.",
        "未设置 evidence.database，因此无法显示以往的决定，但仍可显示此刻会发生什么。"
      )
    case .upToDate: ("The index is up to date", "索引为最新")
    case .behind:
      ("The index is behind: {records} records, up to {time}", "索引滞后：还有 {records} 条记录，截至 {time}")
    case .behindUnknown:
      ("The index has not said how far it is", "索引尚未报告进度")
    case .behindUnanswered:
      (
        "The index reaches up to {time}; how much is missing is not known",
        "索引截至 {time}，尚缺多少未知"
      )
    case .behindText:
      (
        "What was decided or received since is not shown yet.",
        "此后的决定与回执尚未显示。"
      )
    case .homeTitle: ("Why did it arrive, or why not?", "为什么收到了，或者没有收到？")
    case .homeText:
      (
        "Search for the user who asks, for a notification, or for a device.",
        "请搜索提问的用户、某条通知或某台设备。"
      )
    }
  }
}

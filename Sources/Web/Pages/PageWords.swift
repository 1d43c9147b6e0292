import Gate

/// What the pages say. `{category}` and the like are filled in by `PageWords`.
enum Phrase: CaseIterable, Sendable {
  case askTitle, askText, askButton
  case mutedTitle, mutedText, undoButton
  case undoTitle, undoText
  case undoneTitle, undoneText
  case stillOnTitle, stillOnText
  case allSettings
  case deadTitle, deadText
  case busyTitle, busyText, tooManyTitle, tooManyText, badFormTitle, badFormText
  case settingsTitle, settingsText
  case on, off, blocked
  case nowOn, nowOff, nowBlocked, securityStays, securityNote
  case openSystemSettings, blockedText, blockedHelpAndroid, blockedHelpIOS
  case someOff, noDevices
  case android, ios
  case otherLanguage

  /// In English and in Chinese: the one table of words.
  var words: (english: String, chinese: String) {
    switch self {
    case .askTitle: ("Mute {category} notifications?", "要关闭{category}通知吗？")
    case .askText:
      (
        "Nothing has changed yet. This applies to all your devices.",
        "目前还没有任何更改。此设置对您的所有设备生效。"
      )
    case .askButton: ("Mute {category}", "关闭{category}通知")
    case .mutedTitle: ("{category} notifications are now muted", "{category}通知现已关闭")
    case .mutedText:
      (
        "You will get no more of them on any of your devices. Ones already on their way may still"
          + " arrive.",
        "您的所有设备都不会再收到此类通知。已经发出的通知可能仍会到达。"
      )
    case .undoButton: ("Undo", "撤销")
    case .undoTitle: ("Undo muting {category} notifications?", "要撤销关闭{category}通知吗？")
    case .undoText:
      (
        "They are muted now. Undoing sets them back to what they were before.",
        "此类通知目前已关闭。撤销后将恢复为之前的设置。"
      )
    case .undoneTitle: ("Undone", "已撤销")
    case .undoneText:
      (
        "{category} notifications are set as they were before you muted them by the link.",
        "{category}通知的设置已恢复为通过链接关闭之前的状态。"
      )
    case .stillOnTitle: ("{category} notifications are not muted", "{category}通知未关闭")
    case .stillOnText:
      (
        "This link was used before, and the setting was changed since then. Opening the link again"
          + " changes nothing.",
        "此链接之前已使用过，之后设置又有更改。再次打开此链接不会更改任何内容。"
      )
    case .allSettings: ("All notification settings", "全部通知设置")
    case .deadTitle: ("This link is no longer good", "此链接已失效")
    case .deadText:
      (
        "Nothing has changed. Use the link of a newer notification, or the notification settings in"
          + " the app.",
        "没有更改任何内容。请使用较新通知中的链接，或在应用内的通知设置中操作。"
      )
    case .busyTitle: ("That did not work just now", "暂时无法完成")
    case .busyText:
      ("Please try again in a moment. Doing it twice does no harm.", "请稍后重试。重复操作不会有任何影响。")
    case .tooManyTitle: ("Too many requests", "请求过于频繁")
    case .tooManyText: ("Please try again in a moment.", "请稍后重试。")
    case .badFormTitle: ("That could not be read", "无法读取该请求")
    case .badFormText:
      ("Nothing has changed. Please go back and try again.", "没有更改任何内容。请返回后重试。")
    case .settingsTitle: ("Notification settings", "通知设置")
    case .settingsText: ("They apply to all your devices.", "以下设置对您的所有设备生效。")
    case .on: ("On", "开")
    case .off: ("Off", "关")
    case .blocked: ("Blocked by the system", "已被系统阻止")
    case .nowOn: ("{category}: on.", "{category}：已开启。")
    case .nowOff: ("{category}: off.", "{category}：已关闭。")
    case .nowBlocked: ("{category}: blocked by the system.", "{category}：已被系统阻止。")
    case .securityStays:
      (
        "{category} stays on. Only our support can switch it off.",
        "{category}通知保持开启。只有我们的客服人员可以将其关闭。"
      )
    case .securityNote:
      (
        "Cannot be switched off here: only our support can do that.",
        "无法在此处关闭：只有我们的客服人员可以将其关闭。"
      )
    case .openSystemSettings: ("Open system settings", "打开系统设置")
    case .blockedText:
      (
        "Your {platform} lets none of our notifications through. That can only be changed in its own"
          + " settings.",
        "您的{platform}设备阻止了我们的所有通知。只能在系统设置中更改。"
      )
    case .blockedHelpAndroid:
      ("On the device: Settings, Apps, our app, Notifications.", "请在设备上打开：设置 › 应用 › 我们的应用 › 通知。")
    case .blockedHelpIOS:
      ("On the device: Settings, Notifications, our app.", "请在设备上打开：设置 › 通知 › 我们的应用。")
    case .someOff: ("Off on: {platforms}.", "在以下设备上已关闭：{platforms}。")
    case .noDevices:
      (
        "No device of yours is registered at the moment. What you choose counts once one is.",
        "您目前没有已注册的设备。设备注册后，您的选择即会生效。"
      )
    case .android: ("Android", "Android")
    case .ios: ("iPhone or iPad", "iPhone 或 iPad")
    case .otherLanguage: ("Language", "语言")
    }
  }
}

/// The words in one language.
struct PageWords: Sendable {
  let language: PageLanguage

  /// - Parameter values: what stands in place of `{name}`.
  subscript(_ phrase: Phrase, _ values: (name: String, value: String)...) -> String {
    var text = raw(phrase)
    for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
    return text
  }

  /// With the category's name in it.
  subscript(_ phrase: Phrase, _ category: Category) -> String {
    self[phrase, ("category", name(category))]
  }

  func name(_ category: Category) -> String {
    let words = Self.words(category)
    return language == .english ? words.english : words.chinese
  }

  /// What comes under it.
  func about(_ category: Category) -> String {
    let words = Self.about(category)
    return language == .english ? words.english : words.chinese
  }

  func name(_ platform: Platform) -> String {
    switch platform {
    case .android: self[.android]
    case .ios: self[.ios]
    }
  }

  func list(_ platforms: [Platform]) -> String {
    platforms.map(name).joined(separator: language == .english ? ", " : "、")
  }

  private func raw(_ phrase: Phrase) -> String {
    language == .english ? phrase.words.english : phrase.words.chinese
  }

  static func words(_ category: Category) -> (english: String, chinese: String) {
    switch category {
    case .transactional: ("Transactional", "交易")
    case .security: ("Security", "安全")
    case .social: ("Social", "社交")
    case .marketing: ("Marketing", "营销")
    }
  }

  static func about(_ category: Category) -> (english: String, chinese: String) {
    switch category {
    case .transactional:
      ("Orders, deliveries, payments and bookings.", "订单、配送、付款和预订。")
    case .security:
      ("Sign-ins and changes to your account.", "账户登录和账户变更。")
    case .social:
      ("What people you know or follow do.", "您认识或关注的人的动态。")
    case .marketing: ("Offers and news from us.", "我们的优惠和资讯。")
    }
  }
}

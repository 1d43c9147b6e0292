import Gate
import Preferences
import Testing

@testable import Web

/// The row of a category.
private func row(_ reply: APIWorld.Reply, _ category: Category) -> Substring {
  let from = reply.body.firstRange(of: "id=\"\(category.name)\"")!.upperBound
  let rest = reply.body[from...]
  return rest[..<(rest.firstRange(of: "</li>")?.lowerBound ?? rest.endIndex)]
}

private func isOn(_ reply: APIWorld.Reply, _ category: Category) -> Bool {
  row(reply, category).contains("aria-checked=\"true\"")
}

extension PagesWorld {
  /// Presses a toggle as a browser without a script does, and follows to the page behind it.
  fileprivate func press(_ category: Category, _ token: String, once: String? = nil)
    -> APIWorld.Reply
  {
    let page = ask("GET", "/s/\(token)")
    let to = isOn(page, category) ? "off" : "on"
    let posted = ask(
      "POST", "/s/\(token)?lang=en",
      body: "once=\(once ?? page.once ?? "")&category=\(category.name)&to=\(to)")
    #expect(posted.status == 303)
    #expect(posted.header("Location") == "\(token)?lang=en&changed=\(category.name)")
    return ask("GET", "/s/\(posted.header("Location") ?? "")")
  }
}

@Test func togglesGoOffAndOn() throws {
  try withPages { world in
    let token = world.token(.settings, nil)
    for category in [Category.transactional, .social, .marketing] {
      let begins = isOn(world.ask("GET", "/s/\(token)"), category)
      for step in 1...3 {
        let after = world.press(category, token)
        let wanted = begins != (step % 2 == 1)
        #expect(isOn(after, category) == wanted, "\(category) \(step)")
        let choice = world.choice(category)
        #expect(choice == (wanted ? .userOn : .userOff))
        let name = PageWords(language: .english).name(category)
        #expect(after.body.contains("role=\"status\">\(name): \(wanted ? "on" : "off").<"))
        #expect(row(after, category).contains(" autofocus"))
      }
    }
  }
}

/// Requirements C6: refused, on record, and said.
@Test func securityExplainsItself() throws {
  try withPages { world in
    let token = world.token(.settings, nil)
    #expect(row(world.ask("GET", "/s/\(token)"), .security).contains("only our support"))
    let rows = world.rows()
    let after = world.press(.security, token)
    #expect(isOn(after, .security))
    #expect(after.body.contains("Security stays on. Only our support can switch it off."))
    let choice = world.choice(.security)
    #expect(choice == .unset)
    #expect(world.rows() == rows + 1)
    #expect(world.everything().contains(#""outcome":"refused","reason":"security_needs_admin""#))
  }
}

/// The fourth product scenario.
@Test func whatTheSystemBlocksLeadsToItsSettings() throws {
  try withPages { world in
    world.device(permission: "denied")
    let page = world.ask("GET", "/s/\(world.token(.settings, nil))")
    for category in Category.allCases {
      let row = row(page, category)
      #expect(row.contains("Blocked by the system"))
      #expect(
        row.contains("href=\"intent:#Intent;action=android.settings.APP_NOTIFICATION_SETTINGS;"))
      #expect(!row.contains("<button") && !row.contains("<form"))
    }
    // One phone is enough for the toggles to be toggles again; the other is named.
    world.device("d-2", platform: "ios")
    let both = world.ask("GET", "/s/\(world.token(.settings, nil))?lang=zh")
    #expect(isOn(both, .transactional))
    #expect(both.body.contains("您的Android设备阻止了我们的所有通知。"))
    #expect(row(both, .transactional).contains("aria-describedby=\"transactional-about blocked\""))
  }
}

/// Off anywhere is stricter than on elsewhere: on takes it away wherever it is.
@Test func onMeansOnEveryDevice() throws {
  try withPages { world in
    world.device("d-2", platform: "ios")
    world.choose("social", "user-off", device: "d-1")
    let token = world.token(.settings, nil)
    let partly = world.ask("GET", "/s/\(token)")
    #expect(isOn(partly, .social) && row(partly, .social).contains("Off on: Android."))
    world.choose("social", "user-off", device: "d-2")
    #expect(!isOn(world.ask("GET", "/s/\(token)"), .social))

    let once = LinkActions.newOnce()
    let after = world.press(.social, token, once: once)
    #expect(isOn(after, .social) && !row(after, .social).contains("Off on"))
    // The same form again does not switch on what was switched off since.
    world.choose("social", "user-off", device: "d-2")
    let before = world.everything()
    _ = world.ask("POST", "/s/\(token)", body: "once=\(once)&category=social&to=on")
    #expect(world.everything() == before)
  }
}

@Test(arguments: [
  "", "category=social&to=off", "once=ONCE&to=off", "once=ONCE&category=social",
  "once=ONCE&category=social&to=", "once=ONCE&category=Social&to=off",
  "once=ONCE&category=sms&to=off", "once=1&category=social&to=off",
  "once=ONCE&category=social&to=off%", "once=ONCE&category=social;to=off",
])
func aFormThatCannotBeReadChangesNothing(form: String) throws {
  try withPages { world in
    let before = world.everything()
    let reply = world.ask(
      "POST", "/s/\(world.token(.settings, nil))",
      body: form.replacing("ONCE", with: LinkActions.newOnce()))
    #expect(reply.status == 400)
    #expect(reply.body.contains("That could not be read"))
    #expect(world.everything() == before)
  }
}

@Test func aUserWithoutDevicesCanChooseToo() throws {
  try withAPI { api in
    let world = try PagesWorld(api)
    world.choose("social", "user-off")
    let token = world.token(.settings, nil)
    #expect(world.ask("GET", "/s/\(token)").body.contains("No device of yours is registered"))
    #expect(isOn(world.press(.social, token), .social))
    #expect(!isOn(world.ask("GET", "/s/\(token)"), .marketing), "no opt-in is on record")
    #expect(isOn(world.press(.marketing, token), .marketing))
  }
}

/// What a screen reader and a keyboard need.
@Test func togglesAreNamedSwitches() throws {
  try withPages { world in
    let page = world.ask("GET", "/s/\(world.token(.settings, nil))")
    for category in Category.allCases {
      let id = "\(category.name)"
      let row = row(page, category)
      #expect(row.contains("<h2 id=\"\(id)-name\">"))
      #expect(row.contains("<div id=\"\(id)-about\">"))
      #expect(row.contains("role=\"switch\" aria-checked=\"\(isOn(page, category))\""))
      #expect(row.contains("aria-labelledby=\"\(id)-name\" aria-describedby=\"\(id)-about\""))
    }
    #expect(page.body.contains("<html lang=\"en\">") && page.body.contains("width=device-width"))
    #expect(
      page.body.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }.count == 12)
  }
}

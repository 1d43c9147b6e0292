"""What a visitor of the pages does. Each case runs at phone and desktop width, with and without scripts."""

import re

from browser import expect, expect_equal
from selenium.webdriver.common.keys import Keys

CATEGORIES = ("transactional", "security", "social", "marketing")
NAMES = {"transactional": "Transactional", "security": "Security", "social": "Social", "marketing": "Marketing"}
MUTED = "Marketing notifications are now muted"
ANDROID_LINK = (
    "intent:#Intent;action=android.settings.APP_NOTIFICATION_SETTINGS;"
    "S.android.provider.extra.APP_PACKAGE=com.example.app;end"
)


def follow_link(browser, service, user, heading=MUTED, path=None):
    """Opens an unsubscribe link; without a script a button is pressed, and nothing is changed before."""
    before = service.everything(user)
    browser.open(path or service.unsubscribe_path(user))
    if not browser.has_script:
        browser.await_heading("Mute Marketing notifications?")
        expect(service.everything(user) == before, "opening the link has changed something")
        browser.picture("ask")
        browser.press("form#act button")
    browser.await_heading(heading)


def unsubscribe_and_undo(browser, service):
    user = service.user(("android", "granted"))
    follow_link(browser, service, user)
    expect_equal(service.choice(user, "marketing"), "user-off", "after the link")
    expect_equal(service.choice(user, "social"), "default", "another category")
    browser.picture("muted")
    browser.press("form button")
    browser.await_heading("Undone")
    expect_equal(service.choice(user, "marketing"), "default", "after the undo")
    browser.picture("undone")
    browser.press(".buttons a")
    browser.await_heading("Notification settings")


def going_back_after_an_undo_says_what_is(browser, service):
    user = service.user(("android", "granted"))
    path = service.unsubscribe_path(user)
    follow_link(browser, service, user, path=path)
    browser.press("form button")
    browser.await_heading("Undone")
    before = service.everything(user)
    still_on = "Marketing notifications are not muted"
    if browser.has_script:
        browser.open(path)
    else:
        follow_link(browser, service, user, heading=still_on, path=path)
    browser.await_heading(still_on)
    expect(service.everything(user) == before, "a link that was used changed something")
    browser.picture("used-before")
    browser.press("form button")
    browser.await_heading(MUTED)
    expect_equal(service.choice(user, "marketing"), "user-off", "after the button")


def four_toggles(browser, service):
    user = service.user(("android", "granted"), ("ios", "granted"))
    path = service.settings_path(user)
    browser.open(path)
    browser.picture("settings")
    for category in CATEGORIES:
        began = state(browser, category)
        for step in (1, 2):
            browser.press(f"#{category} button")
            wanted = began if step == 2 or category == "security" else not began
            await_status(browser, category, wanted)
            expect_equal(state(browser, category), wanted, f"{category}, pressed {step} times")
            if category != "security":
                choice = service.choice(user, category)
                expect_equal(choice, "user-on" if wanted else "user-off", f"choice of {category}")
            browser.await_focus(f"{category}-name")
        if category == "security":
            expect("Only our support" in browser.one(".status").text, "security does not explain itself")
            expect_equal(service.choice(user, "security"), "default", "security")
            browser.picture("settings-security")
    browser.press("#social button")
    await_status(browser, "social", False)
    browser.picture("settings-changed")
    before = service.everything(user)
    browser.driver.refresh()
    browser.await_heading("Notification settings")
    expect(service.everything(user) == before, "loading the page again changed something")


def state(browser, category):
    return browser.one(f"#{category} [role=switch]").get_attribute("aria-checked") == "true"


def await_status(browser, category, is_on):
    words = f"{NAMES[category]}: {'on' if is_on else 'off'}."
    if category == "security" and is_on:
        words = "Security stays on. Only our support can switch it off."
    browser.await_text(".status", words)


def by_keyboard_alone(browser, service):
    user = service.user(("android", "granted"))
    browser.open(service.settings_path(user))
    order = []
    for _ in CATEGORIES:
        focused = press(browser, Keys.TAB)
        order.append(focused.get_attribute("aria-labelledby"))
        outline = focused.value_of_css_property("outline-style"), focused.value_of_css_property("outline-width")
        expect_equal(outline, ("solid", "3px"), "what shows where the focus is")
    expect_equal(order, [f"{category}-name" for category in CATEGORIES], "the order of Tab")
    browser.picture("settings-focus")
    focused.send_keys(Keys.SPACE)
    browser.await_gone(focused)
    await_status(browser, "marketing", False)
    expect_equal(service.choice(user, "marketing"), "user-off", "after the space bar")
    browser.await_focus("marketing-name").send_keys(Keys.ENTER)
    await_status(browser, "marketing", True)
    expect_equal(service.choice(user, "marketing"), "user-on", "after Enter")


def press(browser, key):
    browser.driver.switch_to.active_element.send_keys(key)
    return browser.driver.switch_to.active_element


def by_screen_reader(browser, service):
    user = service.user(("android", "granted"), ("ios", "denied"))
    browser.open(service.settings_path(user))
    tree = browser.accessibility()
    switches = [one for one in tree if one[0] == "switch"]
    expect_equal([name for _, name, _ in switches], [NAMES[one] for one in CATEGORIES], "names of switches")
    for _, name, properties in switches:
        expect(properties.get("checked") in ("true", "false"), f"{name} is neither on nor off: {properties}")
        expect("iPhone or iPad" in properties["description"], f"{name} does not tell what is blocked: {properties}")
    roles = [role for role, _, _ in tree]
    expect("main" in roles and roles.count("heading") == 5, f"landmarks and headings: {roles}")


def what_the_system_blocks(browser, service):
    """The fourth product scenario: Android with POST_NOTIFICATIONS denied."""
    user = service.user(("android", "denied"))
    browser.open(service.settings_path(user))
    expect_equal(browser.all("[role=switch]"), [], "switches")
    for category in CATEGORIES:
        link = browser.one(f"#{category} a")
        expect_equal(link.get_attribute("href"), ANDROID_LINK, f"where a tap on {category} leads")
        expect("Blocked by the system" in browser.one(f"#{category}").text, f"{category} does not say why")
    expect("Settings, Apps, our app" in browser.one("#blocked").text, "the way there is not told in words")
    browser.picture("blocked")


def in_chinese(browser, service):
    user = service.user(("android", "granted"), ("ios", "denied"))
    browser.open(service.unsubscribe_path(user) + "?lang=zh")
    if not browser.has_script:
        browser.await_heading("要关闭营销通知吗？")
        browser.picture("ask-chinese")
        browser.press("form#act button")
    browser.await_heading("营销通知现已关闭")
    browser.picture("muted-chinese")
    expect_equal(browser.one("html").get_attribute("lang"), "zh-Hans", "the language told to readers")
    browser.press(".buttons a")
    browser.await_heading("通知设置")
    browser.press("#social button")
    browser.await_text(".status", "社交：已关闭。")
    browser.picture("settings-chinese")
    browser.press("footer a")
    browser.await_heading("Notification settings")


def in_the_dark(browser, service):
    browser.dark(True)
    try:
        user = service.user(("android", "granted"), ("ios", "denied"))
        follow_link(browser, service, user)
        browser.picture("muted")
        browser.open(service.settings_path(user))
        browser.picture("settings")
        browser.open("/s/" + service.sign("settings", None, service.user(("android", "denied"))))
        browser.picture("blocked")
    finally:
        browser.dark(False)


def a_link_that_is_no_good(browser, service):
    user = service.user(("android", "granted"))
    before = service.everything(user)
    good = service.unsubscribe_path(user)
    for path in (good[:-1], good[:-4] + "AAAA", service.unsubscribe_path(user, lives=-1), "/s/" + good[3:], "/u/"):
        browser.open(path)
        browser.await_heading("This link is no longer good")
        expect_equal(browser.all("form, button"), [], "what could be pressed")
    expect(service.everything(user) == before, "a link that is no good changed something")
    browser.picture("no-longer-good")


def a_scanner_changes_nothing(browser, service):
    """What a mail filter or a chat's preview does: it fetches, and fetches what the page links to."""
    user = service.user(("android", "granted"))
    before = service.everything(user)
    path = service.unsubscribe_path(user)
    for method in ("HEAD", "GET", "GET"):
        status, headers, text = service.ask(method, path)
        expect_equal(status, 200, method)
    for wanted, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")):
        expect_equal(headers.get_all(wanted), [value], wanted)
    links = re.findall(r'href="([^"]*)"', text)
    expect(len(links) == 2, f"links on the page: {links}")
    for link in links:
        target = link[2:] if link.startswith("../") else "/u/" + link
        expect_equal(service.ask("GET", target)[0], 200, target)
    expect(service.everything(user) == before, "a scanner has changed something")


def a_page_that_nobody_sees_does_not_post(browser, service):
    """Loaded ahead, from a guess in the address bar."""
    if not browser.has_script:
        return
    user = service.user(("android", "granted"))
    before = service.everything(user)
    hide = 'Object.defineProperty(document, "visibilityState", {configurable: true, get: () => "hidden"});'
    added = browser.command("Page.addScriptToEvaluateOnNewDocument", source=hide)
    try:
        browser.open(service.unsubscribe_path(user))
        browser.await_heading("Mute Marketing notifications?")
        expect(service.everything(user) == before, "a page that nobody sees has posted")
    finally:
        browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    browser.driver.execute_script(
        'delete document.visibilityState; document.dispatchEvent(new Event("visibilitychange"));'
    )
    browser.await_heading(MUTED)


def one_click_of_a_mail_program(browser, service):
    """RFC 8058: no page, no cookie, a body of its own."""
    user = service.user(("android", "granted"))
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    status, answer, _ = service.ask("POST", service.unsubscribe_path(user), "List-Unsubscribe=One-Click", headers)
    expect_equal((status, answer.get("Set-Cookie")), (200, None), "the answer")
    expect_equal(service.choice(user, "marketing"), "user-off", "after one click")


CASES = [
    unsubscribe_and_undo,
    going_back_after_an_undo_says_what_is,
    four_toggles,
    by_keyboard_alone,
    by_screen_reader,
    what_the_system_blocks,
    in_chinese,
    in_the_dark,
    a_link_that_is_no_good,
    a_page_that_nobody_sees_does_not_post,
]
WITHOUT_BROWSER = [a_scanner_changes_nothing, one_click_of_a_mail_program]

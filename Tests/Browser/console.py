"""What a support agent does. No page has a script, so each case runs once at each width."""

import time
import urllib.parse

from browser import CheckFailed, expect, expect_equal
from evidence import HOSTILE, await_indexed, hostile, story
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.keys import Keys

CATEGORIES = ("Transactional", "Security", "Social", "Marketing")


def address(kind, name):
    return f"/console/{kind}/{urllib.parse.quote(name, safe='')}"


def sign_in(browser, service, path="/console", token=None):
    browser.driver.delete_all_cookies()
    browser.open(path)
    browser.one("#token").send_keys(token or service.support)
    browser.press("main form button")


def prepare(service):
    """One user of whom there is something to tell, and one whose every record is hostile."""
    user = service.user(("ios", "granted"), ("android", "denied"))
    device, other = f"{user}-d0", f"{user}-d1"
    choice = {"state": "user-off", "source": "in_app_settings"}
    service.api("PUT", f"/v1/users/{user}/choices/marketing", choice)
    window = {"quiet_hours": {"start": "22:00", "end": "07:00"}, "source": "in_app_settings"}
    service.api("PUT", f"/v1/users/{user}/quiet-hours", window)
    now_ms = int(time.time() * 1000)
    records = story(user, device, other, now_ms)
    enemy = HOSTILE[0]
    body = {"platform": "ios", "os_permission": "granted", "region": "DE"}
    for number, text in enumerate(HOSTILE):
        records += hostile(enemy, text, number, now_ms)
        service.api("PUT", f"/v1/users/{urllib.parse.quote(enemy, safe='')}/devices/{urllib.parse.quote(text, safe='')}", body)
    for record in records:
        service.topics.write(record)
    service.topics.end_hold(user, "n-held", device)
    service.topics.flush()
    await_indexed(service)
    service.story = user, device, other
    service.enemy = enemy


def no_token_no_page(browser, service):
    user, device, _ = service.story
    browser.driver.delete_all_cookies()
    for path in (address("users", user), address("notifications", "n-offer"), "/console/charts", "/console/selftest"):
        browser.open(path)
        browser.await_heading("Support console")
        expect(device not in browser.driver.page_source, f"{path} says something without a token")
    browser.picture("console-sign-in")
    browser.one("#token").send_keys("sgt_guessed")
    browser.press("main form button")
    browser.await_text("[role=alert]", "This token is not known.")
    browser.one("#token").send_keys(service.app)
    browser.press("main form button")
    browser.await_text("[role=alert]", "This token's role is not support or admin.")
    sign_in(browser, service, address("users", user))
    browser.await_heading(user)
    cookies = browser.driver.get_cookies()
    expect_equal([c["httpOnly"] for c in cookies], [True], "cookies that a script could read")
    expect_equal([(c["sameSite"], c["path"]) for c in cookies], [("Strict", "/console")], "whom the cookie is for")
    browser.press("footer form button")
    browser.await_heading("Support console")
    browser.open(address("users", user))
    browser.await_heading("Support console")


def search_and_read(browser, service):
    """Why three notifications did not arrive, from the search on."""
    user, device, other = service.story
    sign_in(browser, service)
    browser.await_heading("Why did it arrive, or why not?")
    browser.picture("console-start")
    field = browser.one("#q")
    field.send_keys(user, Keys.ENTER)
    browser.await_gone(field)
    browser.await_heading(user)
    browser.picture("console-user")
    text = browser.one("main").text
    for words in (
        "no dated, sourced opt-in is on record",
        "The device's operating system shows nothing of this app.",
        "The provider no longer knows the push token",
        "frees up",
        "Still waiting",
        "off, by the user",
    ):
        expect(words in text, f"the timeline does not say: {words}")
    for nothing in ("not for support", "not-for-support"):
        expect(nothing not in browser.driver.page_source, f"the page shows {nothing!r}")
    for query, heading in (("n-offer", "n-offer"), (device, device), ("nobody", "Why did it arrive, or why not?")):
        field = browser.one("#q")
        field.clear()
        field.send_keys(query, Keys.ENTER)
        browser.await_gone(field)
        browser.await_heading(heading)
    browser.await_text("[role=status]", "Nothing is kept under nobody.")


def accepted_is_not_seen(browser, service):
    sign_in(browser, service, address("users", service.story[0]))
    wanted = {
        "n-seen": ("is-given", "is-saw"),
        "n-taken": ("is-given", None),
        "n-refused": ("is-refused", None),
        "n-silent": (None, None),
    }
    for notification, (provider, seen) in wanted.items():
        card = browser.driver.find_element(
            "xpath", f"//article[.//a[normalize-space()='{notification}']]//ol[@class='track']"
        )
        kinds = [item.get_attribute("class").split() for item in card.find_elements("css selector", "li")]
        expect_equal(len(kinds), 3, f"steps of {notification}")
        for kind, expected in zip(kinds[1:], (provider, seen)):
            expect_equal([k for k in kind if k.startswith("is-")], [expected] if expected else [], notification)
    legend = browser.one(".legend").text
    expect("Accepted by the provider" in legend and "Seen by the user" in legend, f"the legend says {legend!r}")


def hold_and_release(browser, service):
    sign_in(browser, service, address("users", service.story[0]))
    browser.driver.find_element("link text", "What became of it").click()
    browser.await_heading("n-held")
    target = browser.one(".try:target")
    expect("Was held, was decided again" in target.text, f"the link leads to {target.text!r}")
    browser.picture("console-notification")
    target.find_element("link text", "The decision to hold it").click()
    deadline = time.monotonic() + 5
    while "Held until quiet hours end" not in browser.one(".try:target").text:
        expect(time.monotonic() < deadline, "the way back leads elsewhere")


def now_panel(browser, service):
    user, device, other = service.story
    sign_in(browser, service, address("users", user))

    def cells(name):
        row = browser.driver.find_element("xpath", f"//table[@class='now']//tr[.//th[contains(., '{name}')]]")
        found = row.find_elements("css selector", "td")
        return dict(zip(CATEGORIES, [cell.text for cell in found]))

    expect("switched this category off for the account" in cells(device)["Marketing"], cells(device))
    for category in CATEGORIES:
        expect("Stopped" in cells(other)[category], f"{category}: {cells(other)}")
    expect("Goes" in cells(device)["Security"], cells(device))
    # What is changed counts at the next look; the same user again in every case.
    service.api("PUT", f"/v1/users/{user}/choices/social", {"state": "user-off", "source": "in_app_settings"})
    browser.driver.refresh()
    browser.await_heading(user)
    expect("Stopped" in cells(device)["Social"], cells(device))
    service.api("PUT", f"/v1/users/{user}/choices/social", {"state": "user-on", "source": "in_app_settings"})


def charts(browser, service):
    sign_in(browser, service, "/console/charts")
    browser.await_heading("Charts")
    expect(len(browser.all(".chart rect")) >= 8, "bars on the page")
    expect(len(browser.all(".chart svg")) >= 2, "pictures on the page")
    browser.picture("console-charts")
    browser.open("/console/charts?hours=168")
    browser.await_heading("Charts")
    browser.picture("console-charts-week")


def self_test(browser, service):
    sign_in(browser, service, "/console/selftest")
    browser.await_heading("Self-test")
    browser.picture("console-selftest")


def reasons(browser, service):
    sign_in(browser, service, "/console/reasons")
    browser.await_heading("Reason codes")
    expect_equal(len(browser.all("main tbody tr")), 30, "codes on the page")
    browser.picture("console-reasons")


def nothing_hostile_runs(browser, service):
    sign_in(browser, service, address("users", service.enemy))
    browser.await_heading(service.enemy)
    browser.picture("console-hostile")
    pages = [address("users", service.enemy)]
    for text in HOSTILE:
        pages += [address("notifications", text), address("devices", text), "/console?q=" + urllib.parse.quote(text)]
    pages += ["/console/charts", "/console/selftest", "/console/users/%3Cimg%20src=x%20onerror=alert(1)%3E"]
    for page in pages:
        browser.open(page)
        try:
            browser.driver.switch_to.alert.dismiss()
            raise CheckFailed(f"{page} raised an alert")
        except NoAlertPresentException:
            pass
        ran = browser.driver.execute_script("return window.hacked")
        expect_equal(ran, None, f"what ran on {page}")
        found = browser.all("script, img, iframe, object, embed, plaintext, [onerror], [onload], [onfocus]")
        expect_equal([one.tag_name for one in found], [], f"elements that are not ours on {page}")
        for link in browser.all("a[href], form[action]"):
            target = link.get_attribute("href") or link.get_attribute("action")
            expect(target.startswith(service.base + "/console"), f"{page} leads to {target}")


def by_keyboard_alone(browser, service):
    user = service.story[0]
    sign_in(browser, service)
    browser.await_heading("Why did it arrive, or why not?")
    order = []
    for _ in range(4):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.driver.switch_to.active_element
        order.append(focused.get_attribute("id") or focused.get_attribute("class"))
        outline = focused.value_of_css_property("outline-style"), focused.value_of_css_property("outline-width")
        expect_equal(outline, ("solid", "3px"), "what shows where the focus is")
        if order[-1] == "q":
            break
    expect_equal(order, ["skip", "brand", "q"], "the order of Tab")
    focused.send_keys(user, Keys.ENTER)
    browser.await_gone(focused)
    browser.await_heading(user)


def by_screen_reader(browser, service):
    sign_in(browser, service, address("users", service.story[0]))
    browser.await_heading(service.story[0])
    tree = browser.accessibility()
    roles = [role for role, _, _ in tree]
    for role in ("banner", "main", "contentinfo", "search", "table", "article"):
        expect(role in roles, f"no {role} on the page")
    expect_equal([n for r, n, _ in tree if r == "heading"][:3],
                 [service.story[0], "What would happen now", "What happened"], "headings")
    columns = [name for role, name, _ in tree if role == "columnheader"]
    if browser.width_name == "desktop":
        expect_equal(columns, ["Device", *CATEGORIES], "columns of the panel")


def in_chinese(browser, service):
    user = service.story[0]
    sign_in(browser, service, address("users", user) + "?lang=zh")
    browser.await_heading(user)
    expect_equal(browser.one("html").get_attribute("lang"), "zh-Hans", "the language told to readers")
    text = browser.one("main").text
    for words in ("此刻会发生什么", "推送服务商已接收", "用户已看到", "记录中没有带时间和来源的同意"):
        expect(words in text, f"the page does not say {words}")
    browser.picture("console-user-chinese")
    browser.press("footer nav a")
    browser.await_heading(user)
    expect("What would happen now" in browser.one("main").text, "the way back to English")


def in_the_dark_and_on_paper(browser, service):
    sign_in(browser, service, address("users", service.story[0]))
    browser.dark(True)
    try:
        browser.picture("console-user")
        browser.open("/console/charts")
        browser.picture("console-charts")
    finally:
        browser.dark(False)
    browser.open(address("users", service.story[0]))
    browser.command("Emulation.setEmulatedMedia", media="print")
    try:
        browser.picture("console-user-print")
        for hidden in ("header.bar", "footer form"):
            expect(not browser.one(hidden).is_displayed(), f"{hidden} is printed")
    finally:
        browser.command("Emulation.setEmulatedMedia", media="")


def the_terminal_says_the_same(_, service):
    user = service.story[0]
    told = service.command("explain", "--user", user)
    for words in ("What would happen now", "no dated, sourced opt-in is on record", "Accepted by the provider:",
                  "Seen by the user:", "Not reported as seen", "Who can act: the user", "off, by the user"):
        expect(words in told, f"explain does not say {words!r}:\n{told}")
    one = service.command("explain", "--user", user, "--notification", "n-held", "--lang", "zh")
    expect("n-held" in one and "n-offer" not in one and "曾从" in one, f"of one notification:\n{one}")
    enemy = service.command("explain", "--user", service.enemy)
    expect("\u202e" not in enemy and "\x1b" not in enemy, "a terminal is turned around")


WITHOUT_BROWSER = [the_terminal_says_the_same]
CASES = [
    no_token_no_page,
    search_and_read,
    accepted_is_not_seen,
    hold_and_release,
    now_panel,
    charts,
    self_test,
    reasons,
    nothing_hostile_runs,
    by_keyboard_alone,
    by_screen_reader,
    in_chinese,
    in_the_dark_and_on_paper,
]

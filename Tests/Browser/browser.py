"""Debian's Chromium without a screen, at a width, with or without scripts."""

import base64
import os
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By

WIDTHS = {"phone": (390, 844), "desktop": (1280, 800)}
BLOCKED = 2  # of the content setting
PATIENCE_SECONDS = 30  # with what a page needs a fraction of a second for


class CheckFailed(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise CheckFailed(what)


def expect_equal(got, wanted, what):
    if got != wanted:
        raise CheckFailed(f"{what}: got {got!r}, wanted {wanted!r}")


class Browser:
    def __init__(self, width, has_script, pictures, base):
        self.width_name, self.has_script, self.pictures, self.base = width, has_script, pictures, base
        self.look = ""
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium's own sandbox does not start for root
        for argument in arguments:
            options.add_argument(argument)
        preferences = {"intl.accept_languages": "en"}
        if not has_script:
            preferences["profile.managed_default_content_settings.javascript"] = BLOCKED
        options.add_experimental_option("prefs", preferences)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))
        self.width, height = WIDTHS[width]
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=self.width,
            height=height,
            deviceScaleFactor=1,
            mobile=width == "phone",
        )

    def close(self):
        self.driver.quit()

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path):
        self.driver.get(self.base + path)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        """The only one of these; waited for, as a page is shown from its top while its end is still being read."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.all(selector)
            if len(found) == 1:
                return found[0]
            expect(
                time.monotonic() < deadline, f"{len(found)} of {selector} on the page {self.driver.title!r}"
            )

    def press(self, selector):
        """Clicks what leads to another page, and waits until the old one is gone: the new one may look the same."""
        control = self.one(selector)
        control.click()
        self.await_gone(control)

    def await_gone(self, control):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                control.is_enabled()
            except WebDriverException:
                return
        raise CheckFailed("nothing came of a click")

    def await_heading(self, text):
        self.await_text("h1", text)

    def await_text(self, selector, text):
        """Until the page has one of these that says so; pages post and lead on by themselves."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        found = None
        while time.monotonic() < deadline:
            try:
                found = [one.text for one in self.all(selector)]
            except WebDriverException:  # the page is being replaced
                continue
            if found == [text]:
                return
        raise CheckFailed(f"{selector} says {found!r}, wanted {text!r}")

    def await_focus(self, label):
        """Until what that element labels has the focus, which a page gives away after it is there; returns it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        found = None
        while time.monotonic() < deadline:
            try:
                focused = self.driver.switch_to.active_element
                found = focused.get_attribute("aria-labelledby")
            except WebDriverException:  # the page is being replaced
                continue
            if found == label:
                return focused
        raise CheckFailed(f"the focus is on {found!r}, wanted {label!r}")

    def dark(self, is_dark):
        self.look = "dark-" if is_dark else ""
        value = "dark" if is_dark else "light"
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, name):
        """Keeps the whole page as it looks, and checks that it looks right where a machine can tell."""
        metrics = self.command("Page.getLayoutMetrics")
        content = metrics["cssContentSize"]["width"]
        expect(content <= self.width, f"{name} is {content} wide on a screen of {self.width}")
        for control in filter(lambda one: one.is_displayed(), self.all(".button, .switch")):
            expect(control.size["height"] >= 44, f"{name}: {control.text!r} is too low for a finger")
        script = "script" if self.has_script else "no-script"
        path = self.pictures / f"{self.look}{name}-{self.width_name}-{script}.png"
        picture = self.command("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))

    def complaints(self):
        """What the console says, above all that the page's own policy forbids something in it; not that a link that is
        no good is answered 404, nor that there is no icon, nor that somebody is not let in."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        return [one for one in said if not any(f"status of {code}" in one for code in (401, 403, 404))]

    def accessibility(self):
        """What a screen reader is told: (role, name, properties) of what is not ignored."""
        nodes = self.command("Accessibility.getFullAXTree")["nodes"]
        return [
            (
                node["role"]["value"],
                node.get("name", {}).get("value", ""),
                {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
                | {"description": node.get("description", {}).get("value", "")},
            )
            for node in nodes
            if not node["ignored"]
        ]

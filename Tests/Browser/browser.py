"""Debian's Chromium without a screen, at a width, with or without scripts."""

import os
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By

WIDTHS = {"phone": (390, 844), "desktop": (1280, 800)}
BLOCKED = 2  # of the content setting


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
        found = self.all(selector)
        expect(len(found) == 1, f"{len(found)} of {selector} on the page {self.driver.title!r}")
        return found[0]

    def await_heading(self, text):
        """Until a page with this heading is there; pages post and lead on by themselves."""
        deadline = time.monotonic() + 10
        heading = None
        while time.monotonic() < deadline:
            try:
                heading = self.driver.find_element(By.TAG_NAME, "h1").text
                if heading == text:
                    return
            except Exception:  # noqa: BLE001  the page is being replaced
                pass
        raise CheckFailed(f"the heading is {heading!r}, wanted {text!r}")

    def dark(self, is_dark):
        value = "dark" if is_dark else "light"
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, name):
        """Keeps the whole page as it looks, and checks that it looks right where a machine can tell."""
        metrics = self.command("Page.getLayoutMetrics")
        content = metrics["cssContentSize"]["width"]
        expect(content <= self.width, f"{name} is {content} wide on a screen of {self.width}")
        for control in self.all(".button, .switch"):
            expect(control.size["height"] >= 44, f"{name}: {control.text!r} is too low for a finger")
        script = "script" if self.has_script else "no-script"
        path = self.pictures / f"{name}-{self.width_name}-{script}.png"
        self.driver.save_screenshot(str(path))

    def complaints(self):
        """What the console says: above all that the page's own policy forbids something in it."""
        return [entry["message"] for entry in self.driver.get_log("browser") if "favicon" not in entry["message"]]

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

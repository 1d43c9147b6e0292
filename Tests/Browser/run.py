#!/usr/bin/env python3
"""Drives the pages behind signed links, and the support console, in Chromium.

    run.py --sendgate SENDGATE [--pictures FOLDER] [--part links|console] [--only NAME]      (needs requirements.txt, chromium-driver)

Each case runs at the width of a phone and of a desktop; of the pages behind links with and without scripts, of the
console, which has none, once, on an index of evidence that is read from a test broker. Pictures of the pages are kept in
FOLDER (default: a new one under /tmp), which is printed.
"""

import argparse
import pathlib
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from browser import WIDTHS, Browser, expect_equal  # noqa: E402
from console import CASES as CONSOLE_CASES  # noqa: E402
from console import WITHOUT_BROWSER as CONSOLE_WITHOUT_BROWSER  # noqa: E402
from console import prepare  # noqa: E402
from evidence import Topics  # noqa: E402
from service import Broker, Service  # noqa: E402
from suite import CASES, WITHOUT_BROWSER  # noqa: E402


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sendgate", required=True)
    arguments.add_argument("--pictures")
    arguments.add_argument("--part", choices=["links", "console"])
    arguments.add_argument("--only", default="")
    arguments = arguments.parse_args()
    pictures = pathlib.Path(arguments.pictures or tempfile.mkdtemp(prefix="sendgate-pages-"))
    pictures.mkdir(parents=True, exist_ok=True)
    counts = {"passed": 0, "failed": 0}

    def run(case, name, browser, service):
        if arguments.only not in name:
            return
        try:
            case(browser, service)
            if browser:
                expect_equal(browser.complaints(), [], "the console")
            counts["passed"] += 1
        except Exception:  # noqa: BLE001  whatever it is, the next case runs
            counts["failed"] += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
            if browser:
                browser.driver.save_screenshot(str(pictures / f"failed-{name}.png"))

    def drive(cases, service, width, has_script, suffix):
        browser = Browser(width, has_script, pictures, service.base)
        try:
            for case in cases:
                run(case, f"{case.__name__}-{width}{suffix}", browser, service)
        finally:
            browser.close()

    def drive_links(folder):
        service = Service(arguments.sendgate, folder)
        try:
            for case in WITHOUT_BROWSER:
                run(case, case.__name__, None, service)
            for width in WIDTHS:
                for has_script in (True, False):
                    drive(CASES, service, width, has_script, "-script" if has_script else "-no-script")
        finally:
            service.end()

    def drive_console(folder):
        broker = Broker(arguments.sendgate, folder)
        try:
            more = {"evidence.database": f"{folder}/evidence.db"}
            service = Service(arguments.sendgate, folder, broker.bootstrap, more)
            try:
                service.topics = Topics(broker.bootstrap)
                prepare(service)
                for case in CONSOLE_WITHOUT_BROWSER:
                    run(case, case.__name__, None, service)
                for width in WIDTHS:
                    drive(CONSOLE_CASES, service, width, True, "")
            finally:
                service.end()
        finally:
            broker.end()

    for name, part in {"links": drive_links, "console": drive_console}.items():
        if arguments.part not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="sendgate-browser-") as folder:
            part(folder)
    print(f"pictures: {pictures}")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())

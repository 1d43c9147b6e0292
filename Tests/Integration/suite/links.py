"""Every approved marketing and social record carries a signed link, which a stranger's code can verify and nobody can make."""

import pathlib

from harness.cases import case
from harness.checking import expect, expect_equal
from harness.links import read_keys, verify
from harness.records import candidate, choice, document
from suite.holds import seconds

BASE = "https://example.com/prefs"
CATEGORIES = ("transactional", "social", "marketing")


def key_file(world):
    return pathlib.Path(world.directory) / "links.keys"


def link_key(world, *words):
    world.command("link-key", "link-key", *words, "--file", str(key_file(world)))


def start(world, name, **settings):
    gate = world.gate(
        name, unsubscribe__base_url=BASE, unsubscribe__keys_file=key_file(world), **settings
    )
    gate.await_ready()
    return gate


def approve(world, reader, name):
    """One of each category, and one alert: notification_id -> record."""
    for category in CATEGORIES:
        world.send(candidate(f"{name}-{category}", "u-\u00e9", category))
    world.send(candidate(f"{name}-security", "u-\u00e9", "security", event="login_alert"), security=True)
    world.flush()
    wanted = {f"{name}-{category}" for category in (*CATEGORIES, "security")}

    def found(read):
        return {output.record["notification_id"]: output.record for output in read if output.topic == "approved"}

    reader.until(f"{name} are approved", lambda read: wanted <= set(found(read)), 30)
    return {name: record for name, record in found(reader.read).items() if name in wanted}


def check(records, keys, signing, lifetime):
    for name, record in records.items():
        url = record["unsubscribe_url"]
        if record["category"] not in ("marketing", "social"):
            expect_equal(url, None, f"unsubscribe_url of {name}")
            continue
        expect(url.startswith(f"{BASE}/u/"), url)
        token = url.removeprefix(f"{BASE}/u/")
        decided = int(seconds(record["decided_at"]))
        link = verify(token, keys, decided)
        expect(link is not None, f"not verified: {url}")
        expect_equal(link.pop("expires") - decided, lifetime, f"how long the link of {name} is good")
        expect_equal(
            link,
            {
                "key": signing,
                "purpose": "unsubscribe",
                "category": record["category"],
                "user_id": "u-\u00e9",
                "notification_id": name,
            },
            f"what the link of {name} says",
        )
        expect_equal(verify(token, {signing: bytes(32)}, decided), None, "under another key")
        expect(verify(token, keys, decided + lifetime - 1) is not None, "not good to its last second")
        expect_equal(verify(token, keys, decided + lifetime), None, "when it is over")
        for at in range(0, len(token), 7):
            other = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
            expect_equal(verify(other, keys, decided), None, f"changed at {at}")


@case()
def approvals_carry_links_that_anybody_can_check(world):
    """Marketing and social carry one, nothing else does; a second key signs after a rotation, and both kinds are good; without keys: null."""
    world.create_topics()
    reader = world.reader()
    on = {category: choice("user-on") for category in CATEGORIES}
    world.prefer(document("u-\u00e9", categories=on))
    gate = world.gate("gate-0/none")
    gate.await_ready()
    for name, record in approve(world, reader, "none").items():
        expect_equal(record["unsubscribe_url"], None, f"unsubscribe_url of {name}")
    gate.drain()

    link_key(world, "new")
    keys, signing = read_keys(key_file(world))
    expect_equal((list(keys), signing), ([1], 1), "the first key")
    gate = start(world, "gate-0/first")
    first = approve(world, reader, "first")
    check(first, keys, 1, 180 * 86_400)
    gate.drain()

    link_key(world, "new")
    link_key(world, "sign", "--id", "2")
    keys, signing = read_keys(key_file(world))
    gate = start(world, "gate-0/second", unsubscribe__lifetime_days=1)
    check(approve(world, reader, "second"), keys, 2, 86_400)
    check(first, keys, 1, 180 * 86_400)
    gate.drain()

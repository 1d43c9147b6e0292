"""Random candidates: good ones aimed at the edges, odd ones that must pass, and broken ones."""

import shapes
from inputs import CATEGORIES
from oracle import HOUR_MS, Hours
from shapes import Members, Raw

EVENTS = {
    "security": ("suspicious_login", "account_takeover_blocked", "2fa_code", "password_reset", "login_alert"),
    "transactional": ("order_shipped", "payment_succeeded", "payment_failed"),
    "social": ("like", "comment", "mention", "follow"),
    "marketing": ("announcement", "promotion", "winback"),
}
NOT_UTF8 = (b"\xc3\x28", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xf0\x9f\xa6", b"\xff", b"\x80")


def nested(depth):
    """Text of `depth` arrays in one another."""
    return Raw("[" * depth + "]" * depth)


def build(rng, policy, source, document, user_id, notification_id, now, has_clock):
    """The members of a candidate that can be read, in a random order."""
    category = rng.choice(CATEGORIES if source == "candidate" else ("security",) * 12 + ("marketing", "promo"))
    if rng.random() < 0.02:
        category = rng.choice(("promo", "", "Marketing", " marketing", "social\x00", "x" * 200))
    made = {"notification_id": notification_id, "user_id": user_id, "category": category}
    names = EVENTS.get(category, ("custom",))
    if rng.random() < 0.5:
        pool = names if rng.random() < 0.9 else [e for group in EVENTS.values() for e in group]
        made["event"] = rng.choice(tuple(pool) + ("custom", "x" * 64, "payment_Failed"))
    if rng.random() < 0.4:
        pool = names if rng.random() < 0.9 else [e for group in EVENTS.values() for e in group]
        made["subtype"] = rng.choice(tuple(pool) + ("custom", "é" * 32, ""))
    if rng.random() < 0.1:
        made["critical"] = rng.random() < 0.7
    if rng.random() < 0.25:
        made["sms_fallback"] = rng.random() < 0.8
    if rng.random() < 0.2:
        made["collapse_key"] = rng.choice(shapes.ODD_TEXTS[:6] + ["k" * 64])
    devices = document.devices if document else []
    if rng.random() < 0.25:
        made["device_id"] = rng.choice([d.device_id for d in devices] * 4 + ["d-9", "D-0", "d-0 "])
    if rng.random() < 0.5:
        made["expires_at"] = shapes.instant(rng, expiry(rng, policy, document, devices, now))
    if has_clock or rng.random() < 0.3:
        made["created_at"] = shapes.instant(rng, now if has_clock else now + rng.choice((-1, 1)) * HOUR_MS)
    if rng.random() < 0.6:
        made["payload"] = payload(rng, policy["payload_bytes_max"])
    for name in (
        "device_id",
        "subtype",
        "event",
        "critical",
        "expires_at",
        "collapse_key",
        "sms_fallback",
        "payload",
    ):
        if name not in made and rng.random() < 0.03:
            made[name] = None
    if rng.random() < 0.2:
        made[rng.choice(("x_campaign", "Category", "user_id2", "ü"))] = unknown(rng)
    pairs = list(made.items())
    rng.shuffle(pairs)
    return Members(pairs)


def expiry(rng, policy, document, devices, now):
    """An instant at, before or after one that matters."""
    marks = [now, now + HOUR_MS, now + policy["hold_hours_max"] * HOUR_MS]
    if devices:
        device = devices[0]
        quiet = device.window if device.has_own_window else document.window
        hours = Hours(quiet, device.zone or document.account.zone or policy["fallback_timezone"], "", now)
        marks += [ms for ms in (hours.ends_at, hours.next_start()) if ms is not None] * 2
    return rng.choice(marks) + rng.choice((-1, 0, 1, 1, 60_000))


def payload(rng, bytes_max):
    """An object: of a size at the limit, or with what only a payload may hold."""
    kind = rng.random()
    if kind < 0.35:
        size = bytes_max + rng.choice((-1, 0, 1))
        if size >= 8:
            letter = rng.choice(("x", "é"))
            fill = size - 8
            text = letter * (fill // len(letter.encode())) + "x" * (fill % len(letter.encode()))
            return Raw('{"t":"' + text + '"}')
    if kind < 0.5:
        return Raw(
            rng.choice(
                (
                    '{"a":1,"a":2}',
                    '{"a":{"b":1,"b":1}}',
                    "{ }",
                    '{"n":12345678901234567890123456789012345678901234567890,"m":1e400,"o":-0.0E-9}',
                    '{"category":"security","critical":true,"user_id":"u-other"}',
                    '{"t":"\\ud83e\\udd8a \\u0000 \\/"}',
                    '{"":{"":[]}}',
                )
            )
        )
    if kind < 0.55:
        return {"deep": nested(62)}
    return {"title": rng.choice(shapes.ODD_TEXTS), "n": rng.randrange(10**6)}


def unknown(rng):
    """The value of a member nobody knows; it is carried."""
    return rng.choice(
        (
            1,
            None,
            True,
            "c7",
            [1, {"a": "b"}],
            {"payload": {"a": 1}},
            nested(63),
            Raw("1e400"),
            Raw("-" + "9" * 400),
            Raw("-0"),
        )
    )


def write_line(rng, members):
    text = shapes.write(rng, members)
    if rng.random() < 0.05:
        text = rng.choice((" ", "\t", "")) + text + rng.choice((" ", "  \t", "\r"))
    return text.encode()


def padded(rng, members, record_bytes_max):
    """A record of a length at the limit."""
    size = record_bytes_max + rng.choice((-1, 0, 0, 1, 1000))
    short = shapes.write(rng, Members(members.pairs + [("x_pad", "")]), plain=True).encode()
    if len(short) > size:
        return short
    return short[:-2] + b"x" * (size - len(short)) + short[-2:]


def spoil(rng, members, record_bytes_max):
    """The line of a candidate with one fault that makes it invalid."""
    kind = rng.randrange(12)
    pairs = list(members.pairs)
    if kind == 0:
        name, values = rng.choice(WRONG)
        return write_line(rng, _with(pairs, name, rng.choice(values)))
    if kind == 1:
        name = rng.choice(("notification_id", "user_id", "category"))
        return write_line(rng, Members(pair for pair in pairs if pair[0] != name))
    if kind == 2:
        # The repeated member may differ in its spelling, or lie inside a member nobody knows.
        name, value = rng.choice(pairs)
        spelt = Raw('"' + "".join(f"\\u{ord(c):04x}" for c in name) + '"') if ord(max(name)) < 0x10000 else name
        twice = [(name, value)] if rng.random() < 0.5 else [("x_in", {"a": Members([("b", 1), ("b", 1)])})]
        made = shapes.write(rng, Members(pairs + twice)).encode()
        if rng.random() < 0.3:
            made = (
                made[:-1] + b"," + spelt.text.encode() + b":" + shapes.write(rng, value).encode() + b"}"
                if isinstance(spelt, Raw)
                else made
            )
        return made
    if kind == 3:
        return write_line(
            rng, _with(pairs, rng.choice(("payload", "x_deep")), {"d": nested(rng.choice((63, 64, 1000, 20_000)))})
        )
    if kind == 4:
        return write_line(rng, _with(pairs, rng.choice(("expires_at", "created_at")), shapes.no_instant(rng)))
    if kind == 5:
        line = write_line(rng, members)
        at = line.find(b'"', 1) + 1
        return line[:at] + rng.choice(NOT_UTF8) + line[at:]
    if kind == 6:
        line = shapes.write(rng, members).encode()
        return rng.choice(
            (
                line[:-1],
                line + b"}",
                line + b" {}",
                line + b",",
                line[:-1] + b",}",
                b"\xef\xbb\xbf" + line,
                line + b"\x00",
            )
        )
    if kind == 7:
        return rng.choice(
            (
                b"hello",
                b"{}",
                b"[]",
                b"null",
                b"12",
                b'"text"',
                b"{",
                b"}",
                b"\x00",
                b"[[[[",
                b"{'a':1}",
                b"true",
            )
        )
    if kind == 8:
        bad = rng.choice(
            (
                "NaN",
                "01",
                "+1",
                ".5",
                "1.",
                "0x10",
                "tru",
                "Infinity",
                "'a'",
                "1e",
                "--1",
                "[1,]",
                "/* */1",
                '"\\x41"',
                '"\\u12g4"',
                '"a\tb"',
                '"a\x01b"',
            )
        )
        return write_line(rng, Members(pairs + [("x_bad", Raw(bad))]))
    if kind == 9:
        return padded(rng, members, rng.choice((record_bytes_max + 1200, 2 * record_bytes_max, 900_000)))
    if kind == 10:
        return write_line(rng, Members(pairs + [("x_deep", nested(64))]))
    return write_line(rng, _with(pairs, "payload", rng.choice(([], "text", 1, True, Raw("[{}]")))))


def leave_open(rng, members):
    """The line of a candidate that holds something whose meaning the contract does not fix."""
    name, value = rng.choice(
        (
            ("payload", Raw('{"t":"\\ud800"}')),
            ("payload", Raw('{"\\udc00x":1}')),
            ("x_half", Raw('"\\ud83e"')),
            ("notification_id", Raw('"n\\udfff"')),
            ("user_id", Raw('"\\u0085"')),
            ("event", Raw('"\\ud800\\ud800"')),
            ("expires_at", rng.choice(shapes.OPEN_INSTANTS)),
            ("created_at", rng.choice(shapes.OPEN_INSTANTS)),
        )
    )
    return write_line(rng, _with(members.pairs, name, value))


def _with(pairs, name, value):
    return Members([pair for pair in pairs if pair[0] != name] + [(name, value)])


NO_IDS = (
    "",
    "x" * 129,
    "é" * 65,
    "a\x00b",
    "a\nb",
    "a\x7fb",
    "\x1f",
    None,
    12,
    9007199254740993,
    True,
    ["u-1"],
    {"a": 1},
    Raw("1e3"),
)
NO_NAMES = ("x" * 65, "é" * 33, 1, True, [], {})
WRONG = (
    ("notification_id", NO_IDS),
    ("user_id", NO_IDS),
    ("device_id", tuple(i for i in NO_IDS if i is not None)),
    ("category", (None, 1, True, [], {}, ["social"])),
    ("subtype", NO_NAMES),
    ("event", NO_NAMES),
    ("collapse_key", NO_NAMES),
    ("critical", ("true", 1, 0, [], {}, "")),
    ("sms_fallback", ("true", 1, 0, [], {}, "")),
)

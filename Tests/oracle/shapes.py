"""Random material: JSON written in odd but legal ways, instants in every form, and instants worth aiming at."""

import functools
import json
from datetime import datetime, timedelta, timezone

import instants
import window

DAY_MS = 86_400_000
ODD_TEXTS = [
    'q"uote',
    "back\\slash",
    "ümlaut",
    "漢字",
    "🦊",
    "a/b",
    "tab-less",
    "\u2028",
    "\ufffd",
    "x" * 40,
    "{}",
    "null",
]

# Zones with something to get wrong: half hours, 30-minute changes, changes at midnight, skipped days, links, fixed ids.
ZONES = (
    "America/New_York Europe/Berlin Asia/Tokyo Asia/Kolkata Asia/Kathmandu Australia/Lord_Howe America/St_Johns"
    " Pacific/Apia Pacific/Chatham America/Nuuk Asia/Beirut Africa/Casablanca Europe/Dublin America/Havana"
    " America/Sao_Paulo Asia/Amman Asia/Almaty Asia/Gaza America/Vancouver Antarctica/Troll Pacific/Kiritimati"
    " US/Eastern Asia/Calcutta EST EST5EDT Etc/GMT-14 Etc/GMT+12 UTC GB Africa/Cairo America/Asuncion Asia/Tehran"
).split()
NO_ZONES = (
    [
        "",
        " ",
        "UTC+8",
        "+08:00",
        "GMT+8",
        "Z",
        "utc",
        "america/new_york",
        "America/Los Angeles",
        "Berlin",
        "CST",
        "EDT",
    ]
    + [
        "Factory",
        "localtime",
        "posixrules",
        "posix/UTC",
        "right/Europe/Paris",
        "America",
        "zone.tab",
        "tzdata.zi",
    ]
    + [
        "../etc/passwd",
        "/etc/localtime",
        "America/../UTC",
        "America//New_York",
        "UTC/",
        "/UTC",
        "UTC\x00",
        "null",
        "漢字",
    ]
)


OPEN_INSTANTS = (
    [
        "2026-01-15T24:00:00Z",
        "2026-01-15T23:59:60Z",
        "2026-01-15t06:00:00z",
        "2026-01-15 06:00:00Z",
        "2026-01-15T06:00Z",
    ]
    + [
        "20260115T060000Z",
        "2026-01-15T06:00:00+01",
        "2026-01-15T06:00:00+0100",
        "2026-01-15T06:00:00,5Z",
        "2026-W03-4T06:00:00Z",
    ]
    + ["2026-015T06:00:00Z", "2026-01-15T06:00:00-00:00", "2026-01-15T06:00:00+23:59", "2200-06-01T00:00:00Z"]
    + ["2026-01-15T06:00:00.1234567890123Z", 7_260_000_000_000]
)


class Raw:
    """JSON text to be written as it stands."""

    def __init__(self, text):
        self.text = text


class Members:
    """An object whose members may repeat or whose order matters."""

    def __init__(self, pairs):
        self.pairs = list(pairs)


def write(rng, value, plain=False):
    """`value` as JSON text; unless `plain`, with random white space and escapes."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, str):
        return _string(rng, value, plain)
    pad = (lambda: "") if plain else (lambda: rng.choice(("", "", "", "", " ", "\t", "  ")))
    if isinstance(value, (dict, Members)):
        pairs = value.items() if isinstance(value, dict) else value.pairs
        inner = ",".join(
            f"{pad()}{_string(rng, k, plain)}{pad()}:{pad()}{write(rng, v, plain)}{pad()}" for k, v in pairs
        )
        return "{" + inner + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(f"{pad()}{write(rng, v, plain)}{pad()}" for v in value) + "]"
    return json.dumps(value)


def _string(rng, text, plain):
    escaped = json.dumps(text, ensure_ascii=False)
    if plain or rng.random() < 0.85:
        return escaped
    out = []
    for character in text:
        if rng.random() < 0.3:
            units = character.encode("utf-16-be")
            hexes = (units[i : i + 2].hex() for i in range(0, len(units), 2))
            out.append("".join("\\u" + (h.upper() if rng.random() < 0.5 else h) for h in hexes))
        elif character == "/" and rng.random() < 0.5:
            out.append("\\/")
        else:
            out.append(json.dumps(character, ensure_ascii=False)[1:-1])
    return '"' + "".join(out) + '"'


def instant(rng, ms):
    """An instant in one of the forms that are certainly allowed."""
    if rng.random() < 0.25:
        return ms
    minutes = rng.choice((0, 0, 60, -300, 330, 345, 840, -720, 765))
    at = instants.EPOCH + timedelta(milliseconds=ms, minutes=minutes)
    text = at.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f"{ms % 1000:03d}"
    if ms % 1000 == 0 and rng.random() < 0.5:
        fraction = ""
    elif rng.random() < 0.3:
        fraction = fraction.rstrip("0") or "0"
    elif rng.random() < 0.3:
        fraction += "0" * rng.randint(1, 6)
    zone = "Z" if minutes == 0 and rng.random() < 0.8 else _offset(minutes)
    return text + ("." + fraction if fraction else "") + zone


def _offset(minutes):
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def no_instant(rng):
    """Something that is certainly no instant."""
    return rng.choice(
        [
            Raw(text)
            for text in (
                "0",
                "-1",
                "1784784205",
                "1784784205932000",
                "946684799999",
                "7289654400000",
                "9" * 30,
            )
        ]
        + [Raw(text) for text in ("1784784205.5", "1e2", "true", "{}", "[]", "1e400", "18446744073709551616")]
        + [
            "",
            "now",
            "1784784205932",
            "2026-01-15",
            "2026-01-15T06:00:00",
            "2026-02-30T06:00:00Z",
            "2026-13-01T06:00:00Z",
        ]
        + [
            "2026-01-15T25:00:00Z",
            "2026-01-15T06:60:00Z",
            "2026-01-15T06:00:61Z",
            "2026-01-15T06:00:00\u221201:00",
        ]
        + [
            "1999-12-31T23:59:59.999Z",
            "2000-01-01T00:30:00+01:00",
            "2201-01-01T00:00:00Z",
            "2026-01-15T06:00:00+24:00",
        ]
        + [
            "2026-01-15T06:00:00+01:60",
            " 2026-01-15T06:00:00Z",
            "2026-01-15T06:00:00Z ",
            "2026-01-15T06:00:00ZZ",
        ]
        + ["２０２６-01-15T06:00:00Z", "2026-1-15T06:00:00Z", "2026-01-15T06:00:00.Z", "2026-02-29T00:00:00Z"]
        + [
            "2026-00-10T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "26-01-15T06:00:00Z",
            "2026-01-15T06:00:00Z[Europe/Rome]",
        ]
    )


@functools.cache
def changes(zone, year):
    """The instants (ms) in a year at which a zone's offset changes, found by halving."""
    start = int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp()) // 60
    found = []
    for low in range(start, start + 366 * 1440, 7 * 1440):
        high = low + 7 * 1440
        if window._offset(zone, low) == window._offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if window._offset(zone, low) == window._offset(zone, middle):
                low = middle
            else:
                high = middle
        found.append(high * window.MINUTE_MS)
    return tuple(found)


def now_for(rng, zone):
    """An instant to decide at: near a change of the zone's offset, in this decade, or anywhere allowed."""
    kind = rng.random()
    if kind < 0.45:
        near = changes(zone, rng.choice((2007, 2011, 2016, 2024, 2026, 2027, 2031, 2037, 2038, 2050, 2120)))
        if near:
            return (
                rng.choice(near)
                + rng.choice((-1, 1)) * int(rng.choice((0, 1, 60_000, 3.6e6, DAY_MS)) * rng.random())
                + rng.choice((-1, 0, 1))
            )
    if kind < 0.8:
        ms = rng.randrange(1_735_689_600_000, 1_893_456_000_000)
    else:
        ms = rng.randrange(instants.MS_MIN, instants.MS_2200 - 400 * DAY_MS)
    # Boundaries of a minute are where windows open and close.
    minute = ms - ms % window.MINUTE_MS
    return rng.choice((ms, minute, minute - 1, minute + 1, minute + 59_999))


def skips_a_day(zone, ms):
    """Whether a zone leaves out a calendar day near an instant: what weekday came before is then not fixed."""
    minute = ms // window.MINUTE_MS
    offsets = [window._offset(zone, minute + day * 1440) for day in range(-10, 50)]
    return max(offsets) - min(offsets) > 6 * 3600

"""Random policies, defaults and preference documents."""

import copy

import shapes
import window
from inputs import CATEGORIES
from shapes import Members, Raw

SOURCES = ("in_app_settings", "os_settings_sync", "unsubscribe_link", "admin_override")
REGIONS = [
    "US",
    "CH",
    "GI",
    "JP",
    "BR",
    "DE",
    "FR",
    "GB",
    "GR",
    "IS",
    "LI",
    "NO",
    "AX",
    "GP",
    "MQ",
    "GF",
    "RE",
    "YT",
    "MF",
] + [
    "EL",
    "UK",
    "de",
    "us",
    "XX",
    "XK",
    "EU",
    "",
    "USA",
    "U",
    "ZZ",
    "uk",
    "GG",
    "JE",
    "IM",
    "PF",
    "TF",
    "BL",
    "SX",
]
NO_WINDOWS = (
    [{"start": "25:99", "end": ""}, {"start": "22:00"}, {"end": "08:00"}, {"start": None, "end": "08:00"}, {}]
    + [
        {"start": "7:00", "end": "08:00"},
        {"start": "22:00:30", "end": "08:00"},
        {"start": "２２:００", "end": "08:00"},
    ]
    + [
        {"start": " 22:00", "end": "08:00"},
        {"start": 2200, "end": "08:00"},
        {"start": "24:00", "end": "08:00"},
    ]
    + [
        {"start": "22:00", "end": "24:01"},
        {"start": "22:00", "end": "08:60"},
        {"start": "22-00", "end": "08:00"},
    ]
    + [{"start": "22:00", "end": "08:00", "days": ["Mon"]}, {"start": "22:00", "end": "08:00", "days": "mon"}]
    + [
        {"start": "22:00", "end": "08:00", "days": ["mon", "funday"]},
        {"start": "22:00", "end": "08:00", "days": [1]},
    ]
    + ["22:00-08:00", 5, True, [], {"start": "22:00", "end": "08:00 "}, {"start": "+2:00", "end": "08:00"}]
)


def subset(rng, items, share=0.5):
    return [item for item in items if rng.random() < share]


def policy(rng, built_in):
    """A policy that the gate must accept."""
    made = copy.deepcopy(built_in)
    if rng.random() < 0.4:
        return made
    made["version"] = rng.choice(("2026-03-09", "v2", "größer"))
    for name in ("transactional", "social", "marketing"):
        rules = made["categories"][name]
        if rng.random() < 0.5:
            rules["quiet_hours_rule"] = rng.choice(("drop", "defer", "bypass"))
            rules["on_invalid_window"] = rng.choice(("drop", "outside"))
        if rng.random() < 0.4:
            rules["default"], rules["regulated_default"] = (rng.choice(("on", "off")) for _ in range(2))
        if rng.random() < 0.3:
            rules["lawful_basis"]["basis"] = rng.choice(("consent", "contract", "legitimate_interest"))
        rules["registry"] += [f"{name}_{letter}" for letter in subset(rng, "abc", 0.3)]
    if rng.random() < 0.5:
        made["bypass_events"] = [
            {
                "event": rng.choice(made["categories"][name]["registry"]),
                "category": name,
                "passes": rng.choice(passes_allowed(made["categories"][name])),
                "lawful_basis": {"basis": "contract", "words": "tests"},
            }
            for name in subset(rng, ("transactional", "social", "marketing"))
        ]
    else:
        # payment_failed passes the choice; its category may have got another basis above.
        made["bypass_events"] = [
            event
            for event in made["bypass_events"]
            if "choice" not in event["passes"] or not on_consent(made["categories"][event["category"]])
        ]
    if rng.random() < 0.3:
        made["critical_allow_list"] = subset(rng, made["categories"]["security"]["registry"])
    if rng.random() < 0.4:
        made["suppressions"] = {name: subset(rng, CATEGORIES) for name in made["suppressions"]}
    made["regions_regulated_additional"] = [
        {"region": region, "reason": "tests"} for region in subset(rng, ("CH", "GI", "US", "GG", "JE", "IM"), 0.25)
    ]
    made["fallback_timezone"] = rng.choice(shapes.ZONES)
    made["payload_bytes_max"] = rng.choice((4096, 4096, 1, 2, 64, 1000))
    made["record_bytes_max"] = rng.choice((65536, 65536, 4096, 5000))
    made["payload_bytes_max"] = min(made["payload_bytes_max"], made["record_bytes_max"])
    made["hold_hours_max"] = rng.choice((1, 3, 8, 24, 72, 200))
    made["duplicates_horizon_hours"] = made["hold_hours_max"] + rng.choice((0, 24))
    return made


def on_consent(rules):
    return rules["lawful_basis"]["basis"] == "consent"


def passes_allowed(rules):
    """What a bypass event of a category may pass: nothing passes a user's no where the basis is consent."""
    return [["quiet_hours"]] if on_consent(rules) else [["choice"], ["quiet_hours"], ["quiet_hours", "choice"]]


def default_lines(rng):
    """Records of the defaults topic as lines. A tombstone is a null value, which a line cannot be."""
    lines = []
    for _ in range(rng.choice((0, 1, 4, 8))):
        category = rng.choice(CATEGORIES)
        pair = {"default": rng.choice(("on", "off")), "regulated_default": rng.choice(("on", "off"))}
        lines.append(shapes.write(rng, {"category": category, **pair}))
    return lines


def choice(rng, now):
    made = {"state": rng.choice(("default", "user-on", "user-on", "user-off"))}
    kind = rng.random()
    if kind < 0.7:
        made["at"] = shapes.instant(rng, rng.choice((now - 86_400_000, now - 1, now, now + 1, now + 86_400_000)))
    elif kind < 0.8:
        made["at"] = None
    if rng.random() < 0.8:
        made["source"] = rng.choice(SOURCES)
    elif rng.random() < 0.3:
        made["source"] = None
    return made


def choices(rng, now, share):
    made = {category: choice(rng, now) for category in CATEGORIES if rng.random() < share}
    if rng.random() < 0.05:
        made[rng.choice(CATEGORIES)] = None
    if rng.random() < 0.05:
        made["newsletters"] = {"state": "user-off"}
    return made


def quiet_hours(rng, zone, now):
    """A window whose edges lie near the wall clock's time, mostly."""
    if rng.random() < 0.1:
        return rng.choice(NO_WINDOWS)
    at = window.wall(zone, now // window.MINUTE_MS)[1]

    def edge():
        near = (at + rng.choice((-121, -60, -31, -1, 0, 1, 2, 29, 60, 120))) % 1440
        return rng.choice((near, near, near, rng.randrange(1440), 0, 1439, 22 * 60, 8 * 60, 120, 150, 180))

    start, end = edge(), edge()
    if rng.random() < 0.05:
        end = start
    made = {"start": _clock(start), "end": "24:00" if rng.random() < 0.08 else _clock(end)}
    whole_day = rng.random() < 0.08
    if whole_day:
        # Days in a row make one window of several days, up to one that has no end.
        made = {"start": "00:00", "end": rng.choice(("24:00", "24:00", "23:59"))}
    if rng.random() < (0.6 if whole_day else 0.3) and not shapes.skips_a_day(zone, now):
        kind = rng.random()
        odd = rng.choice((None, [], list(window.DAYS), ["mon", "mon"]))
        made["days"] = odd if kind < 0.3 else subset(rng, window.DAYS, 0.8 if whole_day else 0.5)
    return made


def _clock(minute):
    return f"{minute // 60:02d}:{minute % 60:02d}"


def zone_id(rng, zone):
    """The zone the case is about, another, an unknown one, or null."""
    kind = rng.random()
    if kind < 0.75:
        return zone
    return rng.choice(shapes.NO_ZONES) if kind < 0.9 else None if kind < 0.94 else rng.choice(sorted(window.zone_ids()))


def scope(rng, zone, now, share):
    made = {"categories": choices(rng, now, share)}
    if rng.random() < 0.8:
        made["suppressions"] = subset(rng, ("legal_hold", "abuse_hold", "bounced"), 0.05)
    if rng.random() < 0.6:
        made["timezone"] = zone_id(rng, zone)
    return made


def device(rng, device_id, zone, now):
    made = {
        "device_id": device_id,
        "platform": rng.choice(("ios", "android")),
        "os_permission": rng.choice(("granted",) * 8 + ("denied", "provisional")),
        "token_status": rng.choice(("active",) * 8 + ("expired", "revoked")),
        **scope(rng, zone, now, 0.25),
    }
    if rng.random() < 0.9:
        made["region"] = rng.choice(REGIONS)
    if rng.random() < 0.3:
        made["quiet_hours"] = None if rng.random() < 0.3 else quiet_hours(rng, zone, now)
    return made


def document(rng, user_id, zone, now):
    """A document that can be read."""
    account = scope(rng, zone, now, 0.3)
    if rng.random() < 0.75:
        account["quiet_hours"] = None if rng.random() < 0.1 else quiet_hours(rng, zone, now)
    if rng.random() < 0.3:
        account["muted_subtypes"] = {"social": subset(rng, ("like", "comment", "mention", "follow"))}
        if rng.random() < 0.2:
            account["muted_subtypes"]["security"] = ["login_alert", "2fa_code"]
    if rng.random() < 0.6:
        account["sms"] = choice(rng, now)
    count = rng.choice((0, 1, 1, 1, 1, 2, 2, 3)) if rng.random() < 0.99 else 64
    ids = [f"d-{i}" for i in range(count)]
    if ids and rng.random() < 0.1:
        ids[0] = rng.choice(shapes.ODD_TEXTS + ["d" * 128])
    made = {
        "user_id": user_id,
        "version": rng.choice((0, 1, 17, 2**31, 2**40)),
        "account": account,
        "devices": [device(rng, device_id, zone, now) for device_id in ids],
    }
    if not ids and rng.random() < 0.3:
        made["devices"] = None
    if rng.random() < 0.1:
        made["x_extra"] = rng.choice((1, None, {"a": [1, {"b": "c"}]}, "text"))
    return made


def spoil(rng, made):
    """The same document, with something that makes it unreadable. The user's id stays readable."""
    kind = rng.randrange(8)
    if not made.get("devices"):
        kind = 7
    if kind == 0:
        made["account"]["categories"] = {"social": {"state": rng.choice(("on", "USER-ON", "user-on ", "", "off"))}}
    elif kind == 1:
        made["devices"][-1]["categories"] = {"marketing": {"state": "muted"}}
    elif kind == 2:
        made["devices"][-1]["os_permission"] = rng.choice(("Granted", "unknown", ""))
    elif kind == 3:
        made["devices"][0]["token_status"] = rng.choice(("ok", "Active", ""))
    elif kind == 4:
        made["devices"] = [made["devices"][0] | {"device_id": f"d-{i}"} for i in range(65)]
    elif kind == 5:
        made["devices"][0]["device_id"] = rng.choice(("", "x" * 129, "a\x00b", 7))
    elif kind == 6:
        made["account"]["categories"] = Members([("social", {"state": "user-off"}), ("social", {"state": "user-on"})])
    else:
        made["devices"] = rng.choice(({}, "none", 3, [Raw("1")]))
    return made

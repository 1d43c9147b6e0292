"""Candidates and preference documents, and windows that are open, or not, at the present."""

import json
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

# New York, and one place for each whole hour from UTC that sets no clock forward or back, so that any hour of the day is
# on some wall now, all year.
PLACES = (
    "America/New_York Pacific/Pago_Pago Pacific/Honolulu Pacific/Gambier Pacific/Pitcairn America/Phoenix"
    " America/Costa_Rica America/Panama America/La_Paz America/Sao_Paulo America/Noronha Atlantic/Cape_Verde"
    " Atlantic/Reykjavik Africa/Lagos Africa/Johannesburg Europe/Istanbul Asia/Dubai Asia/Karachi Asia/Dhaka"
    " Asia/Bangkok Asia/Shanghai Asia/Tokyo Australia/Brisbane Pacific/Guadalcanal Pacific/Majuro"
).split()


def encode(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def candidate(notification_id, user_id, category="social", **members):
    return {"notification_id": notification_id, "user_id": user_id, "category": category, **members}


def choice(state, at="2025-10-01T09:00:00Z", source="in_app_settings"):
    return {"state": state, "at": at, "source": source}


def device(device_id="d-1", **members):
    made = {
        "device_id": device_id,
        "platform": "ios",
        "os_permission": "granted",
        "token_status": "active",
        "region": "US",
        "categories": {},
        "suppressions": [],
    }
    return {**made, **members}


def document(user_id, version=1, devices=None, **account):
    made = [device()] if devices is None else devices
    return {"user_id": user_id, "version": version, "account": {"categories": {}, **account}, "devices": made}


ALL_DAY = {"start": "00:00", "end": "24:00"}


def wall_minute(zone):
    """The minute of the day on the wall clock there, now."""
    at = datetime.now(timezone.utc).astimezone(ZoneInfo(zone))
    return at.hour * 60 + at.minute


def place_between(first_minute, last_minute):
    """A zone whose wall clock is now within the minutes of the day; New York wherever it will do."""
    for zone in PLACES:
        if first_minute <= wall_minute(zone) < last_minute:
            return zone
    raise AssertionError(f"no place where it is between minute {first_minute} and {last_minute} of the day")


def window_around_now(zone, before=60, after=60):
    """A window that opened `before` minutes ago and ends in `after`."""
    now = wall_minute(zone)
    return {"start": _clock(now - before), "end": _clock(now + after)}


def window_far_from_now(zone):
    """A window that opens in some hours."""
    now = wall_minute(zone)
    return {"start": _clock(now + 240), "end": _clock(now + 480)}


def _clock(minute):
    minute %= 1440
    return f"{minute // 60:02d}:{minute % 60:02d}"

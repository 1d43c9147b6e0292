"""Quiet windows by brute force: the wall clock is read again at every minute.

Slow, and on purpose without any arithmetic on transitions: whatever a gap, an overlap or a skipped day
does to a window, this only ever asks what a clock on the wall shows at an instant.
"""

import functools
import os
import re
import zoneinfo
from datetime import datetime, timezone

MINUTE_MS = 60_000
DAY_MINUTES = 1440
END_SEARCH_MINUTES = 8 * DAY_MINUTES
START_SEARCH_MINUTES = 40 * DAY_MINUTES
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
DATABASE = os.environ.get("TZDIR") or "/usr/share/zoneinfo"
zoneinfo.reset_tzpath(to=[DATABASE])


@functools.cache
def zone_ids():
    """Every id and link of the system's tz database, but for what Debian adds and for `Factory`."""
    found = set()
    for folder, _, files in os.walk(DATABASE):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if file.read(4) == b"TZif":
                    found.add(os.path.relpath(path, DATABASE))
    return frozenset(
        i for i in found if not i.startswith(("posix/", "right/")) and i not in ("localtime", "posixrules", "Factory")
    )


@functools.cache
def database_version():
    with open(os.path.join(DATABASE, "tzdata.zi"), encoding="ascii") as file:
        return file.readline().split()[-1]


@functools.cache
def region_codes():
    """The codes of ISO 3166-1, from the list that comes with the tz database."""
    with open(os.path.join(DATABASE, "iso3166.tab"), encoding="utf-8") as file:
        return frozenset(line[:2] for line in file if not line.startswith("#"))


@functools.cache
def _zone(name):
    return zoneinfo.ZoneInfo(name)


@functools.lru_cache(1_000_000)
def _offset(name, minute):
    """Seconds east of UTC at a minute since the epoch."""
    at = datetime.fromtimestamp(minute * 60, timezone.utc).astimezone(_zone(name))
    return int(at.utcoffset().total_seconds())


def wall(name, minute):
    """(weekday, minute of the day) on the wall clock at a minute since the epoch. Monday is 0."""
    # Two changes never fall into one hour, so equal ends mean a constant offset between them.
    hour = minute - minute % 60
    first, last = _offset(name, hour), _offset(name, hour + 59)
    offset = first if first == last else _offset(name, minute)
    local = minute + offset // 60
    return (local // DAY_MINUTES + 3) % 7, local % DAY_MINUTES


class Window:
    """`start` and `end` in minutes of the day (`end` up to 1440), `days` the weekdays on which it starts."""

    def __init__(self, start, end, days, start_text, end_text):
        self.start, self.end, self.days = start, end, days
        self.start_text, self.end_text = start_text, end_text

    def holds(self, zone, minute):
        """Whether the wall clock is inside at a minute since the epoch."""
        weekday, at = wall(zone, minute)
        if self.start < self.end:
            return self.start <= at < self.end and weekday in self.days
        return (at >= self.start and weekday in self.days) or (at < self.end and (weekday - 1) % 7 in self.days)

    def ends_at(self, zone, now_ms):
        """The first later instant outside; None where eight days bring none."""
        return self._first(zone, now_ms, False, END_SEARCH_MINUTES)

    def next_start(self, zone, now_ms):
        """The first later instant inside, from an instant outside."""
        return self._first(zone, now_ms, True, START_SEARCH_MINUTES)

    def _first(self, zone, now_ms, inside, minutes_max):
        minute = now_ms // MINUTE_MS
        for later in range(minute + 1, minute + 1 + minutes_max):
            if self.holds(zone, later) == inside:
                # An end exactly eight days on is still within eight days.
                return later * MINUTE_MS if later * MINUTE_MS <= now_ms + minutes_max * MINUTE_MS else None
        return None


UNREADABLE = object()


def read_window(node):
    """A Window, None (no window) or UNREADABLE, from a `quiet_hours` node that is not null."""
    if node.kind != "object":
        return UNREADABLE
    start, end, days = node.get("start"), node.get("end"), node.get("days")
    if start is None or end is None or start.kind != "string" or end.kind != "string":
        return UNREADABLE
    first = _clock(start.value)
    last = DAY_MINUTES if end.value == "24:00" else _clock(end.value)
    if first is None or last is None:
        return UNREADABLE
    on = frozenset(range(7))
    if days is not None:
        if days.kind != "array" or any(d.kind != "string" or d.value not in DAYS for d in days.value):
            return UNREADABLE
        on = frozenset(DAYS.index(d.value) for d in days.value)
    return None if first == last or not on else Window(first, last, on, start.value, end.value)


def _clock(text):
    match = CLOCK.fullmatch(text)
    return int(match.group(1)) * 60 + int(match.group(2)) if match else None

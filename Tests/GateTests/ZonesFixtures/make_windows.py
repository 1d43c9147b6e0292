#!/usr/bin/env python3
"""Makes windows.tsv: what Python's zoneinfo says of quiet windows, found by trying every minute.

usage: make_windows.py [SEED] > windows.tsv

Shares nothing with the gate but the tz database and the rules: no offset intervals, no edges, only "is the wall
clock at this instant inside". Columns: zone, start and end minute, days, now in ms, quiet (0/1), end and next start
in seconds ("-" for none). Where a zone's offset is no whole minute, it tries every second.
"""
import random
import sys
import zoneinfo
from datetime import datetime, timezone

ROOT = "/usr/share/zoneinfo"
zoneinfo.reset_tzpath([ROOT])
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 20261130
CASES = 3000
DAY = 86_400
rng = random.Random(SEED)


def version():
    with open(ROOT + "/tzdata.zi") as f:
        return f.readline().split()[2]


def wall(t, zone):
    return datetime.fromtimestamp(t, zone)


def quiet(t, zone, start, end, days):
    at = wall(t, zone)
    minute, today = at.hour * 60 + at.minute, at.weekday()
    if start == end:
        return False
    if start < end:
        return start <= minute < end and bool(days >> today & 1)
    if minute >= start:
        return bool(days >> today & 1)
    return minute < end and bool(days >> ((today - 1) % 7) & 1)


def offset(t, zone):
    return int(wall(t, zone).utcoffset().total_seconds())


def answer(t, zone, start, end, days):
    """(quiet, end, next start) at second t."""
    step = 60
    for probe in (t, t + 9 * DAY, t + 37 * DAY):
        if offset(probe, zone) % 60:
            step = 1
    first = t - t % step + step
    inside = quiet(t, zone, start, end, days)
    ends = starts = None
    was = inside
    for u in range(first, t + 36 * DAY + 1, step):
        if inside and ends is None and u > t + 8 * DAY and start == 0 and end == 1440 and days == 0x7F:
            break  # For ever: nothing to find, and 36 days of seconds take long.
        now = quiet(u, zone, start, end, days)
        if was and not now and ends is None and inside and u <= t + 8 * DAY:
            ends = u
        if now and not was:
            starts = u
            break
        was = now
        if days == 0 or start == end:
            break
    return inside, ends, starts


def change_near(t, zone):
    """The first change of offset in the 400 days after t, or None."""
    last = offset(t, zone)
    for u in range(t, t + 400 * DAY, DAY // 4):
        if offset(u, zone) != last:
            low, high = u - DAY // 4, u
            while high - low > 1:
                middle = (low + high) // 2
                if offset(middle, zone) == last:
                    low = middle
                else:
                    high = middle
            return high
    return None


def seconds(year):
    return int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp())


def minute_of(t, zone):
    at = wall(t, zone)
    return at.hour * 60 + at.minute


def some_days():
    roll = rng.random()
    if roll < 0.6:
        return 0x7F
    if roll < 0.7:
        return 1 << rng.randrange(7)
    if roll < 0.78:
        return 0x7F & ~(1 << rng.randrange(7))
    if roll < 0.8:
        return 0
    return rng.randrange(128)


def some_window(near):
    roll = rng.random()
    if roll < 0.05:
        return 0, 1440
    if roll < 0.08:
        return rng.randrange(1440), 1440
    if roll < 0.1:
        same = rng.randrange(1440)
        return same, same
    edges = [rng.choice(near) + rng.choice([0, 0, -1, 1, -30, 30, 15, rng.randint(-90, 90)]) for _ in (0, 1)]
    for i in (0, 1):
        if rng.random() < 0.4:
            edges[i] = rng.choice([0, 360, 420, 480, 1260, 1320, 1380, rng.randrange(1440)])
    return edges[0] % 1440, edges[1] % 1440


def main():
    excluded = {"localtime", "posixrules", "Factory"}
    names = sorted(n for n in zoneinfo.available_timezones() if n not in excluded)
    busy = [n for n in names if zoneinfo.ZoneInfo(n).utcoffset(datetime(2026, 1, 1)) !=
            zoneinfo.ZoneInfo(n).utcoffset(datetime(2026, 7, 1))]
    odd = ["Pacific/Apia", "Australia/Lord_Howe", "America/Nuuk", "Africa/Cairo", "Asia/Pyongyang", "America/Caracas",
           "Pacific/Kwajalein", "Africa/Casablanca", "Europe/Dublin", "Antarctica/Troll", "America/Vancouver",
           "Pacific/Chatham", "Asia/Kathmandu", "Africa/Monrovia", "Europe/Amsterdam", "Asia/Gaza", "Antarctica/Casey"]
    print(f"# tz database {version()}, seed {SEED}, python {sys.version.split()[0]}")
    made = 0
    while made < CASES:
        name = rng.choice(rng.choice([names, names, busy, odd]))
        zone = zoneinfo.ZoneInfo(name)
        roll = rng.random()
        years = (1850, 1930) if roll < 0.07 else (2037, 2120) if roll < 0.25 else (1960, 2037)
        t = rng.randrange(seconds(years[0]), seconds(years[1]))
        near = [minute_of(t, zone)]
        if rng.random() < 0.65:
            change = change_near(t, zone)
            if change is not None:
                near = [minute_of(change - 1, zone), minute_of(change, zone)]
                t = change + rng.choice([-1, 0, 1, -60, 60, rng.randint(-5400, 5400), rng.randint(-2 * DAY, 2 * DAY),
                                         rng.randint(-10 * DAY, DAY)])
        start, end = some_window(near)
        days = some_days()
        ms = rng.choice([0, 0, 1, 999, rng.randrange(1000)])
        inside, ends, starts = answer(t, zone, start, end, days)
        fields = [name, start, end, days, t * 1000 + ms, int(inside), "-" if ends is None else ends,
                  "-" if starts is None else starts]
        print("\t".join(map(str, fields)))
        made += 1


main()

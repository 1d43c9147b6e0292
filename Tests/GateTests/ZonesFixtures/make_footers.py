#!/usr/bin/env python3
"""Makes footers.tsv: offsets that the C library gives for TZ strings, around their changes and elsewhere.

usage: make_footers.py [SEED] > footers.tsv

Columns: TZ string, instant in seconds, seconds east of UTC. Python's zoneinfo must agree, but on rules with a plain
day of the year (0 to 365): Python 3.11 counts it from 1. Days near the turn of the year are left out, because the C
library looks at one year at a time.
"""
import io
import os
import random
import re
import struct
import sys
import time
import zoneinfo
from datetime import datetime

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 20261130
rng = random.Random(SEED)
PLAIN_DAY = re.compile(r",\d+(/|,|$)")
REAL = ["CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "IST-1GMT0,M10.5.0,M3.5.0/1", "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
        "EET-2EEST,M4.5.5/0,M10.5.4/24", "IST-2IDT,M3.4.4/26,M10.5.0", "EET-2EEST,M3.4.4/50,M10.4.4/50",
        "<-04>4<-03>,M9.1.6/24,M4.1.6/24", "MST7", "<+0530>-5:30", "UTC0"]


def tzif(text):
    header = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4)
    body = struct.pack(">lBB", 0, 0, 0) + b"LMT\0"
    return header + body + header + body + b"\n" + text.encode() + b"\n"


def hms(value):
    sign, value = ("-" if value < 0 else ""), abs(value)
    text = f"{sign}{value // 3600}"
    if value % 3600:
        text += f":{value // 60 % 60:02d}"
    if value % 60:
        text += f":{value % 60:02d}"
    return text


def some_day():
    roll = rng.random()
    if roll < 0.6:
        day = f"M{rng.randint(1, 12)}.{rng.randint(1, 5)}.{rng.randint(0, 6)}"
    elif roll < 0.8:
        day = f"J{rng.randint(10, 355)}"
    else:
        day = f"{rng.randint(10, 355)}"
    if rng.random() < 0.7:
        day += "/" + hms(rng.choice([rng.randint(0, 24), rng.randint(-167, 167), rng.randint(-30, 30)]) * 3600
                         + rng.choice([0, 0, 1800, 2700, 59]))
    return day


def some_text():
    if rng.random() < 0.2:
        return rng.choice(REAL)
    west = rng.randint(-14, 12) * 3600 + rng.choice([0, 0, 0, 1800, 2700])
    text = rng.choice(["ABC", "<+03>", "<-0330>", "ABCDE"]) + hms(west)
    if rng.random() < 0.1:
        return text
    text += rng.choice(["DEF", "<+04>"])
    if rng.random() < 0.5:
        text += hms(west - rng.choice([3600, 1800, 7200, -3600]))
    return text + "," + some_day() + "," + some_day()


def offset(t, zone):
    return int(datetime.fromtimestamp(t, zone).utcoffset().total_seconds())


def around_change(base, zone):
    """The last second before and the first after a change in the year that follows, if there is one."""
    low = base
    for high in range(base, base + 366 * 86_400, 86_400):
        if offset(high, zone) != offset(low, zone):
            while high - low > 1:
                middle = (low + high) // 2
                if offset(middle, zone) == offset(low, zone):
                    low = middle
                else:
                    high = middle
            return [low, high]
        low = high
    return []


def main():
    print(f"# seed {SEED}, python {sys.version.split()[0]}")
    made = 0
    while made < 2000:
        text = some_text()
        try:
            zone = zoneinfo.ZoneInfo.from_file(io.BytesIO(tzif(text)))
        except ValueError as error:
            sys.exit(f"{text}: {error}")
        os.environ["TZ"] = text
        time.tzset()
        base = rng.randrange(0, 4_100_000_000)
        for t in [base, base + rng.randint(0, 366 * 86_400)] + around_change(base, zone):
            library = time.localtime(t).tm_gmtoff
            if library != offset(t, zone) and not PLAIN_DAY.search(text):
                sys.exit(f"{text} at {t}: {library} or {offset(t, zone)}?")
            print(f"{text}\t{t}\t{library}")
            made += 1


main()

"""A tz database of the test's own: zones whose wall clocks reach a full minute when the test wants it, two of which
are set forward and back while the test runs.

A window is written in minutes of the wall clock, so the seconds of a zone's offset choose the second at which its
windows end. Whoever asks what the clock there shows asks the table below, not a tz library.
"""

import bisect
import os
import random
import struct

DAY = 86_400
CLOCK_CHANGES = (45, -45, 30, -30, 3600, -3600)


class MadeZone:
    """`changes`: [(instant, offset from then on)], the first from ever; seconds since the epoch."""

    def __init__(self, name, changes):
        self.name = name
        self.instants = [at for at, _ in changes]
        self.offsets = [offset for _, offset in changes]

    def offset(self, at):
        return self.offsets[max(0, bisect.bisect_right(self.instants, at) - 1)]

    def minute(self, at):
        """The minute of the day on the wall clock there."""
        return (at + self.offset(at)) % DAY // 60

    def tzif(self):
        """The file, by RFC 9636: version 2, the first block empty but for what must be there."""
        first = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, 4) + struct.pack(">lbb", 0, 0, 0) + b"LMT\0"
        instants = self.instants[1:]
        types = sorted(set(self.offsets))
        # The first type is the one before all changes.
        types.sort(key=lambda offset: offset != self.offsets[0])
        names = b"".join(b"T%02d\0" % number for number in range(len(types)))
        head = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, len(instants), len(types), len(names))
        body = b"".join(struct.pack(">q", at) for at in instants)
        body += bytes(types.index(offset) for offset in self.offsets[1:])
        body += b"".join(struct.pack(">lbb", offset, 0, 4 * number) for number, offset in enumerate(types))
        return first + head + body + names + b"\n" + self.footer().encode() + b"\n"

    def footer(self):
        """The last offset for ever. POSIX counts west of Greenwich."""
        west = -self.offsets[-1]
        hours, rest = divmod(abs(west), 3600)
        return f"<LAST>{'-' if west < 0 else ''}{hours}:{rest // 60:02d}:{rest % 60:02d}"


def make_zones(seed, start, seconds, count=12, changing=2):
    """`count` zones all over the day, their full minutes spread over the minute; the last `changing` change their
    clocks every 35 to 60 seconds from `start` on."""
    chance = random.Random(f"{seed}/zones")
    zones = []
    for number in range(count):
        offset = -11 * 3600 + number * 2 * 3600 + chance.randrange(3600) // 60 * 60 + number * 60 // count
        changes = [(-(2**40), offset)]
        at = start
        while number >= count - changing and at < start + seconds:
            at += chance.randrange(35, 60)
            step = chance.choice([step for step in CLOCK_CHANGES if abs(offset + step) < 20 * 3600])
            offset += step
            changes.append((at, offset))
        zones.append(MadeZone(f"Made/Zone{number:02d}", changes))
    return zones


def write_database(zones, directory, version="made"):
    """The value for TZDIR."""
    for zone in zones:
        path = os.path.join(directory, zone.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(zone.tzif())
    # The policy's fallback must be there.
    with open(os.path.join(directory, "UTC"), "wb") as file:
        file.write(MadeZone("UTC", [(-(2**40), 0)]).tzif())
    with open(os.path.join(directory, "+VERSION"), "w", encoding="ascii") as file:
        file.write(f"{version}\n")
    return directory


class QuietTable:
    """For each zone and window, second by second from `start` on: is it quiet, and until when."""

    def __init__(self, zones, start, seconds):
        self.zones, self.start, self.seconds = {zone.name: zone for zone in zones}, start, seconds
        self.minutes, self.ends = {}, {}

    def _minutes(self, name):
        if name not in self.minutes:
            zone = self.zones[name]
            self.minutes[name] = [zone.minute(self.start + second) for second in range(self.seconds)]
        return self.minutes[name]

    def _table(self, name, window):
        key = (name, window)
        if key not in self.ends:
            first, last = window
            table, end = [0] * self.seconds, None
            for second in range(self.seconds - 1, -1, -1):
                minute = self._minutes(name)[second]
                is_quiet = first <= minute < last if first <= last else minute >= first or minute < last
                if not is_quiet:
                    end = second
                elif end is not None:
                    table[second] = (self.start + end) * 1000
                else:
                    # Beyond what the test looks at.
                    table[second] = 2**60
            self.ends[key] = table
        return self.ends[key]

    def quiet_until(self, name, window, at_ms):
        """The first later instant (ms) outside the window; 0 where `at_ms` is outside already."""
        second = at_ms // 1000 - self.start
        if not 0 <= second < self.seconds:
            raise ValueError(f"{at_ms} is outside of what this table covers")
        return self._table(name, window)[second]

    def end_minute(self, name, not_before):
        """(minute of the day, instant) of the first full minute on that clock at or after an instant (s)."""
        at = not_before
        while True:
            minutes = self._minutes(name)
            second = at - self.start
            if minutes[second] != minutes[second - 1]:
                return minutes[second], at
            at += 1

"""Frequency caps, read a second time: what a user's history says of one more notification.

A history is the notifications of a user in a category, in the order in which they were decided. Nothing here is shared with the
gate; every span is tried.
"""

from datetime import datetime, timezone
from zoneinfo import ZoneInfo


class Cap:
    """`zone` is the user's, for a calendar day; `window_ms` None means one."""

    def __init__(self, name, count, window_ms=None, zone="UTC"):
        self.name, self.count, self.window_ms, self.zone = name, count, window_ms, ZoneInfo(zone)
        self._dates = {}

    def in_zone(self, zone):
        """The same cap for a user in another zone."""
        return Cap(self.name, self.count, self.window_ms, zone)

    def date(self, ms):
        if ms not in self._dates:
            at = datetime.fromtimestamp(ms // 1000, timezone.utc)
            self._dates[ms] = at.astimezone(self.zone).date()
        return self._dates[ms]

    def in_reach(self, counted, now):
        """Of the instants counted so far, those that share a window with `now`."""
        if self.window_ms is None:
            return [at for at in counted if self.date(at) == self.date(now)]
        return [at for at in counted if now - self.window_ms < at <= now]

    def is_used_up(self, counted, now):
        return len(self.in_reach(counted, now)) >= self.count

    def overruns(self, counted):
        """Windows that hold more than the cap allows: each span that begins with an instant, each date."""
        if self.window_ms is None:
            dates = [self.date(at) for at in counted]
            return [date for date in set(dates) if dates.count(date) > self.count]
        return [
            start for start in counted if sum(start <= at < start + self.window_ms for at in counted) > self.count
        ]


def judge(history, caps):
    """What is wrong with a history of (instant, approved, refunded, named, frees_at).

    `refunded`: from when on it did not count, at the latest knowledge; None: it counts. `named` and `frees_at` are what a drop
    said. Where the refund's own instant is not known exactly it is given as a pair (not before, not after).
    """
    found = []
    for index, (now, approved, _, named, frees_at) in enumerate(history):
        before = [entry for entry in history[:index] if entry[1]]
        # What counts at the least: all that cannot have been refunded by now. At the most: all that need not have been.
        least = [at for at, _, refunded, _, _ in before if refunded is None or refunded[0] > now]
        most = [at for at, _, refunded, _, _ in before if refunded is None or refunded[1] > now]
        if approved:
            found += [f"{index}: approved at {now} though {cap.name} was used up" for cap in caps if cap.is_used_up(least, now)]
            continue
        full = [cap for cap in caps if cap.is_used_up(most, now)]
        if not full:
            found.append(f"{index}: dropped at {now} though no cap was used up")
        elif named not in {cap.name for cap in full}:
            found.append(f"{index}: dropped at {now} for {named}, which has room")
        elif frees_at <= now:
            found.append(f"{index}: frees up at {frees_at}, not after {now}")
        else:
            cap = next(cap for cap in caps if cap.name == named)
            if cap.window_ms is not None and frees_at - cap.window_ms not in most:
                found.append(f"{index}: {named} frees up at {frees_at}, a window after nothing")
            elif cap.window_ms is None and (cap.date(frees_at) == cap.date(now) or cap.date(frees_at - 1) != cap.date(now)):
                found.append(f"{index}: {named} frees up at {frees_at}, which is not the next midnight")
    lasting = [at for at, approved, refunded, _, _ in history if approved and refunded is None]
    found += [f"{cap.name} is overrun: {windows[:3]}" for cap in caps if (windows := cap.overruns(lasting))]
    return found

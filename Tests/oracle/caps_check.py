"""Checks the oracle of caps: a gate that counts right is found right, and each that is wrong in one way is found wrong."""

import random

from caps import Cap, judge

HOUR = 3_600_000
# Around a day of 25 hours where the user is.
START, ZONE = 1_793_500_000_000, "America/Los_Angeles"


class Gate:
    """Counts right; those below are each wrong in one way."""

    def __init__(self, caps):
        self.caps, self.counted = caps, []

    def is_counted(self, entry, now):
        return entry["refunded"] is None or entry["refunded"] > now

    def is_used_up(self, cap, now):
        return cap.is_used_up([entry["at"] for entry in self.counted if self.is_counted(entry, now)], now)

    def frees_at(self, cap, now):
        if cap.window_ms is None:
            at = now
            while cap.date(at) == cap.date(now):
                at = (at // 60_000 + 1) * 60_000
            return at
        counted = sorted(entry["at"] for entry in self.counted if self.is_counted(entry, now))
        return counted[max(-cap.count, -len(counted))] + cap.window_ms if counted else now + cap.window_ms

    def named(self, full):
        return full[0]

    def decide(self, now, refunded):
        full = [cap for cap in self.caps if self.is_used_up(cap, now)]
        if full:
            return False, self.named(full).name, self.frees_at(self.named(full), now)
        self.counted.append({"at": now, "refunded": refunded})
        return True, None, None


class OneMore(Gate):
    def is_used_up(self, cap, now):
        return cap.is_used_up([e["at"] for e in self.counted if self.is_counted(e, now)][1:], now)


class OneLess(Gate):
    def is_used_up(self, cap, now):
        return cap.is_used_up([e["at"] for e in self.counted if self.is_counted(e, now)] + [now], now)


class ShortWindow(Gate):
    def is_used_up(self, cap, now):
        counted = [e["at"] for e in self.counted if self.is_counted(e, now)]
        if cap.window_ms is not None:
            cap = Cap(cap.name, cap.count, cap.window_ms - 70_000)
        return cap.is_used_up(counted, now)


class LongWindow(Gate):
    def is_used_up(self, cap, now):
        counted = [e["at"] for e in self.counted if self.is_counted(e, now)]
        if cap.window_ms is not None:
            cap = Cap(cap.name, cap.count, cap.window_ms + 1000)
        return cap.is_used_up(counted, now)


class GreenwichDay(Gate):
    def is_used_up(self, cap, now):
        counted = [e["at"] for e in self.counted if self.is_counted(e, now)]
        return (Cap(cap.name, cap.count) if cap.window_ms is None else cap).is_used_up(counted, now)


class NeverRefunds(Gate):
    def is_counted(self, entry, now):
        return True


class RefundsAll(Gate):
    def is_counted(self, entry, now):
        return now - entry["at"] < HOUR / 4


class FreesLate(Gate):
    def frees_at(self, cap, now):
        return super().frees_at(cap, now) + 1


class NamesAnother(Gate):
    def named(self, full):
        return self.caps[0]


WRONG = [OneMore, OneLess, ShortWindow, LongWindow, GreenwichDay, NeverRefunds, RefundsAll, FreesLate, NamesAnother]


def history(make, random, caps):
    gate, now, made = make(caps), START, []
    for _ in range(120):
        # Whole seconds, so that instants a window apart occur.
        now += random.choice([0, 1000, 60_000, HOUR // 4, HOUR // 4 - 1000, HOUR])
        refund = now + random.randrange(1, 2 * HOUR) if random.random() < 0.3 else None
        approved, name, frees_at = gate.decide(now, refund)
        # From outside a refund is known to lie between a receipt and some moment after it.
        known = (refund - random.randrange(0, 3), refund + random.randrange(0, 3)) if approved and refund else None
        made.append((now, approved, known, name, frees_at))
    return made


def check(seed):
    failures = []
    for make in [Gate, *WRONG]:
        source = random.Random(seed)
        found = []
        for _ in range(8):
            for caps in (
                [Cap("a", 2, HOUR), Cap("b", 4, 6 * HOUR)],
                [Cap("day", 3, zone=ZONE)],
                [Cap("a", 1, 120_000), Cap("day", 5, zone=ZONE)],
            ):
                found += judge(history(make, source, caps), caps)
        if make is Gate:
            failures += [f"the right counter is found wrong: {words}" for words in found[:3]]
        elif not found:
            failures.append(f"not caught: caps, {make.__name__}")
    return failures

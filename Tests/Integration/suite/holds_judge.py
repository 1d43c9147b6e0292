"""The judge of holds, judged: a model of a gate that does all right, and each mistake it could make."""

import time
import types

from harness.cases import case
from harness.changing_zones import QuietTable, make_zones
from harness.checking import CheckFailed, expect
from harness.hold_judge import Judge
from harness.hold_model import Model
from harness.hold_plan import Round
from suite.holds_oracle import REASONS
from suite.holds_pacing import check_burst

SPREAD_MS = 3000


@case()
def the_judge_of_holds_bites(world):
    """The judge is content with a model that does all right, and names each of its mistakes: early, late, twice, never, why."""
    start = int(time.time())
    zones = make_zones(world.random.random(), start, 300)
    table = QuietTable(zones, start - 5, 400)

    def judged(twist=None):
        return Model(Judge(Round("judge", 0, start, 3000, table), SPREAD_MS), twist).run().check()

    reasons = judged().reasons
    for reason in REASONS:
        expect(reasons[reason] > 0, f"the model has nothing that ends as {reason}: {dict(reasons)}")
    for name, twist in MISTAKES.items():
        hits = []

        def once(index, device_id, record, twist=twist, hits=hits):
            changed = None if hits else twist(record)
            if changed is None:
                return [record]
            hits.append((index, device_id))
            return changed

        try:
            judged(once)
        except CheckFailed:
            expect(hits, f"the model never got to {name}")
        else:
            raise CheckFailed(f"the judge is content with {name} ({hits})")


def on(reason, change):
    """A mistake in the first record with that reason; None elsewhere."""
    return lambda record: change(record) if record is not None and record.reason == reason else None


MISTAKES = {
    "a release a millisecond early": on("released", lambda r: [r._replace(decided_ms=r.held[1] - 1)]),
    "a release too late": on("released", lambda r: [r._replace(decided_ms=r.decided_ms + 10_000)]),
    "a release twice": on("released", lambda r: [r, r]),
    "an approval that never came": on("ok", lambda r: []),
    "a release that never came": on("released", lambda r: []),
    "a hold twice": on("quiet_hours_deferred", lambda r: [r, r]),
    "a hold that was not written": on("quiet_hours_deferred", lambda r: []),
    "a hold that is not nulled": lambda record: [] if record is None else None,
    "a hold nulled twice": lambda record: [None, None] if record is None else None,
    "another reason": on("ok", lambda r: [r._replace(reason="quiet_hours_bypassed")]),
    "an opt-out that was not heeded": on(
        "account_opted_out",
        lambda r: [r._replace(outcome="approved", reason="released", blocked_by=[])] if r.held else None,
    ),
    "an old document": on("account_opted_out", lambda r: [r._replace(version=1)] if r.held else None),
    "a reason left out": on("os_permission_denied", lambda r: [r._replace(blocked_by=r.blocked_by[:1])] if len(r.blocked_by) > 1 else None),
    "a wrong end of the window": on("quiet_hours_deferred", lambda r: [r._replace(deliver_ms=r.deliver_ms + 1000)]),
    "no word of the hold": on("released", lambda r: [r._replace(held=None)]),
    "superseded by itself": on("superseded", lambda r: [r._replace(superseded_by=0)]),
    "released though superseded": on(
        "superseded", lambda r: [r._replace(outcome="approved", reason="released", blocked_by=[], superseded_by=None)]
    ),
}


@case()
def the_judge_of_bursts_bites(world):
    """Releases exactly at the rate pass; one too many within a second, one early, one late or expired too soon do not."""
    rates, count = {"ios": 50, "android": 50}, 1000
    due_ms, expires_ms = 1_000_000, 1_000_000_000

    def judged(change=lambda decided, reason: None):
        # Every platform's own 20 ms apart: 51 take a second.
        decided = [due_ms + 20 * number for number in range(count)]
        reason = bytearray(count)
        change(decided, reason)
        check_burst(types.SimpleNamespace(decided=decided, reason=reason), count, rates, due_ms, expires_ms)

    def set_decided(number, ms):
        return lambda decided, reason: decided.__setitem__(number, ms)

    judged()
    for name, change in {
        "one too many": lambda decided, reason: decided.__setitem__(slice(None), [at - at % 1000 for at in decided[:10]] * 100),
        "one early": set_decided(7, due_ms - 1),
        "one after its expiry": set_decided(20, expires_ms),
        "one that expired too soon": lambda decided, reason: reason.__setitem__(20, 1),
        "one without an expiry that expired": lambda decided, reason: reason.__setitem__(21, 1),
        "a release that took too long": set_decided(999, due_ms + 90_000),
    }.items():
        try:
            judged(change)
        except CheckFailed:
            continue
        raise CheckFailed(f"the judge is content with {name}")

"""Holds under fire: every (notification, device) ends once, for the right reason, not early, not late, whatever dies.

The windows are of one to three minutes, in zones that the test makes (harness/changing_zones.py); what must come of
each candidate is worked out apart from the gate (harness/hold_judge.py).
"""

import collections
import json
import os

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, until
from harness.hold_trial import Trial

# A test in which one of them never comes would prove less than it says.
REASONS = (
    "ok released quiet_hours_bypassed quiet_hours_dropped expires_in_quiet_hours account_opted_out token_expired"
    " os_permission_denied superseded"
).split()


def held_through_kills(world, rounds, count=100_000):
    trial = Trial(world, rounds, count)
    work, judged = [], []
    for number in range(rounds):
        work.append(trial.round_with_blows())
        # Rounds overlap; the ones that must have ended are judged, so that memory stays bounded.
        while len(judged) < number - 1:
            judged.append(trial.judge(len(judged)))
    for each in work:
        each.join()
    while len(judged) < rounds:
        judged.append(trial.judge(len(judged)))
    trial.instances.drain()
    until("no transaction is open", lambda: not world.open_partitions(), 30)
    trial.reader.to_end()
    reasons = sum((judge.reasons for judge in judged), start=collections.Counter())
    for reason in REASONS:
        expect(reasons[reason] > 0, f"nothing ended as {reason}: {dict(reasons)}")
    note = {"late_max_ms": max(judge.late_max_ms for judge in judged), "reasons": dict(reasons)}
    with open(os.path.join(world.directory, "note.json"), "w", encoding="utf-8") as file:
        json.dump({**note, "disruptions": trial.instances.disruptions}, file)


@case(EXACT, timed=True)
def holds_through_3_kills(world):
    """100,000 candidates in windows of 1 to 3 minutes, 3 times; kill -9, join and leave: each ends once, right, in time."""
    held_through_kills(world, 3)


@case(EXACT, long=True, timed=True)
def holds_through_20_kills(world):
    """100,000 candidates in windows of 1 to 3 minutes, 20 times; kill -9, join and leave: each ends once, right, in time."""
    held_through_kills(world, 20)

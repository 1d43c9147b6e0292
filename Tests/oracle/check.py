#!/usr/bin/env python3
"""Checks the oracle and the fuzzer themselves: golden lines, what the random cases reach, and wrong gates.

    check.py [--seed N] [--groups N]

The windows are held against zones.jsonl (tz database 2026f), the ids against zone_ids.jsonl, the decisions against
decisions.jsonl. Then every reason that `evaluate` can give must occur among the random cases, and every wrong gate of
mutants.py must be caught by them, and every wrong counter by the oracle of caps.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys

import caps_check
import fuzz
import instants
import oracle
import window
from mutants import MUTANTS

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "../cases")
ZONES = os.path.join(HERE, "../GateTests/ZonesFixtures")
# Rows 6 and 14 and what becomes of holds need state, which `evaluate` does not keep.
REASONS = (
    "invalid_candidate unknown_category category_mismatch payload_too_large critical_not_allowed expired unknown_user"
    " preferences_unreadable unknown_device no_devices suppressed_legal_hold suppressed_abuse_hold suppressed_bounced"
    " no_gdpr_consent account_opted_out device_opted_out subtype_muted category_default_off os_permission_denied"
    " token_revoked token_expired quiet_hours_dropped expires_in_quiet_hours quiet_hours_deferred"
    " quiet_hours_bypassed ok"
).split()


SOUND = "sound"
GROUPS = []


def golden(name):
    with open(os.path.join(ZONES, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def check_zones():
    failures = []
    for case in golden("zones.jsonl"):
        days = frozenset(range(7))
        end = window.DAY_MINUTES if case["end"] == "24:00" else window._clock(case["end"])
        quiet = window.Window(window._clock(case["start"]), end, days, case["start"], case["end"])
        now = instants.from_text(case["now"])
        inside = quiet.holds(case["zone"], now // window.MINUTE_MS)
        ends_at = quiet.ends_at(case["zone"], now) if inside else None
        wanted = None if case["ends_at"] is None else instants.from_text(case["ends_at"])
        if (inside, ends_at) != (case["quiet"], wanted):
            failures.append(f"{case['id']}: wanted {case['quiet']} {case['ends_at']}, got {inside} {ends_at}")
    for case in golden("zone_ids.jsonl"):
        if (case["zone"] in window.zone_ids()) != case["valid"]:
            failures.append(f"zone id {case['zone']!r}: wanted valid = {case['valid']}")
    return failures


def check_decisions():
    command = [
        sys.executable,
        os.path.join(CASES, "run_cases.py"),
        sys.executable,
        os.path.join(HERE, "oracle.py"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return [] if done.returncode == 0 else [done.stdout]


def check_reach(groups):
    reached = {str(record["reason"]) for group in groups for _, expected in group.cases for record in expected}
    reached |= {
        r for group in groups for _, expected in group.cases for record in expected for r in record["blocked_by"]
    }
    return [f"no random case reaches {reason}" for reason in REASONS if reason not in reached]


def survives(name):
    """Whether no group catches a wrong gate. Runs in a process of its own, which the change spoils."""
    if name != SOUND:
        MUTANTS[name]()
    for group in GROUPS:
        wrong = oracle.Oracle(group.policy, group.lines, group.defaults)
        for line, expected in group.cases:
            try:
                now = group.now if group.now is not None else oracle.record_clock(line)
                got = [oracle.encode(record) for record in wrong.decide(line, group.source, now)]
            except Exception:  # A wrong gate may also fall over; the sound one is then missed by name.
                return False
            if len(got) != len(expected) or any(fuzz.record_problems(0, *pair) for pair in zip(expected, got)):
                return False
    return True


def check_mutants(groups):
    GROUPS.extend(groups)
    names = [SOUND, *MUTANTS]
    # Forked, so that the groups made with the sound oracle are there without being made again.
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        survived = dict(zip(names, pool.map(survives, names, chunksize=1)))
    failures = [f"not caught: {name}" for name in MUTANTS if survived[name]]
    return failures if survived[SOUND] else failures + ["the sound oracle disagrees with itself"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20260309)
    parser.add_argument("--groups", type=int, default=12)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    groups = [fuzz.Group(options.seed, number, fuzz.GROUP_CASES) for number in range(options.groups)]
    failures = check_zones() + check_decisions() + check_reach(groups) + check_mutants(groups)
    failures += caps_check.check(options.seed)
    for words in failures:
        print(words)
    print(f"{len(MUTANTS) + len(caps_check.WRONG)} wrong gates tried, {len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

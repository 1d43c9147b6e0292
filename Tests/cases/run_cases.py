#!/usr/bin/env python3
"""Holds `sendgate evaluate` against the golden decisions beside this file.

    run_cases.py SENDGATE [ARG ...]

A line of decisions.jsonl has the preference document (or null), the candidate (an object, or `raw` text, or
`raw_base64`), the lane it arrives on, the instant, and one entry per expected output record. An entry names the members
that matter; a record may hold more. Instants are compared as instants, however written.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
from datetime import datetime

CASES = pathlib.Path(__file__).with_name("decisions.jsonl")
TIMEOUT_SECONDS = 60


def as_instant(value):
    """An aware datetime, or None for whatever is no ISO 8601 text with an offset."""
    if isinstance(value, str) and value[:4].isdigit() and "T" in value:
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return at if at.tzinfo else None
    return None


def first_difference(want, got, path=""):
    """What does not hold, in words; None where everything wanted is there."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name, value in want.items():
            below = f"{path}.{name}".lstrip(".")
            if name not in got:
                return f"{below}: wanted {value!r}, it is absent"
            found = first_difference(value, got[name], below)
            if found:
                return found
        return None
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return next(filter(None, (first_difference(*pair, path) for pair in zip(want, got))), None)
    at = as_instant(want)
    same = at == as_instant(got) if at else type(want) is type(got) and want == got
    return None if same else f"{path}: wanted {want!r}, got {got!r}"


def candidate_line(case):
    """The candidate's bytes, and whether they carry their own clock."""
    if "raw_base64" in case:
        return base64.b64decode(case["raw_base64"]), False
    if "raw" in case:
        return case["raw"].encode(), False
    return json.dumps({"created_at": case["now"]} | case["candidate"], ensure_ascii=False).encode(), True


def evaluate(case, command):
    """The output records, in order; raises RuntimeError with the command's own words where it failed."""
    documents = case["preferences"] or []
    documents = documents if isinstance(documents, list) else [documents]
    line, has_clock = candidate_line(case)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as preferences:
        preferences.writelines(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)
        preferences.flush()
        clock = ["--clock", "record"] if has_clock else ["--now", case["now"]]
        done = subprocess.run(
            [*command, "evaluate", "--preferences", preferences.name, "--source", case["source"], *clock],
            input=line + b"\n",
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
        )
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-400:]}")
    return [json.loads(each) for each in done.stdout.splitlines() if each.strip()]


def failure(case, command):
    """Why a case fails; None where it holds."""
    try:
        got = evaluate(case, command)
    except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    want = case["expect"]
    if len(got) != len(want):
        return f"wanted {len(want)} records, got {len(got)}"
    found = (first_difference(*pair) for pair in zip(want, got))
    return next((f"record {i}: {words}" for i, words in enumerate(found) if words), None)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]
    failed = 0
    for case in cases:
        words = failure(case, sys.argv[1:])
        if words:
            failed += 1
            print(f"{case['id']} {case['title']}\n    {words}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares `sendgate evaluate` with the oracle on random cases.

    fuzz.py [--seed N] [--cases N] [--group N] SENDGATE [ARG ...]

Cases come in groups of one policy, one set of documents and one lane; a group is one process. A mismatch is printed
with the input that brought it; `--seed N --group M` runs its group alone. Of an input whose meaning the contract leaves
open it is only asked that a record comes of it. The last line is `N passed, N failed`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import candidates
import documents
import inputs
import instants
import shapes
import strict_json
import window
from expect import Text, differences
from instants import Unfixed
from oracle import BUILT_IN_POLICY, Oracle

GROUP_CASES = 250
TIMEOUT_SECONDS = 120
SHOWN_MAX = 20


class Group:
    """One run of the command: `cases` are (line, expected records)."""

    def __init__(self, seed, number, size):
        rng = random.Random(f"{seed}/{number}")
        with open(BUILT_IN_POLICY, "rb") as file:
            built_in = json.load(file)
        self.policy = documents.policy(rng, built_in)
        self.names_policy = self.policy != built_in or rng.random() < 0.5
        self.source = rng.choice(("candidate", "candidate", "candidate", "security"))
        self.defaults = [line.encode() for line in documents.default_lines(rng)]
        # Without a clock of its own a group decides everything at one instant, so candidates may lack created_at.
        self.now = shapes.now_for(rng, rng.choice(shapes.ZONES)) if rng.random() < 0.25 else None
        self.lines, drafts = [], []
        for index in range(size):
            drafts.append(self.draft(rng, f"{number}-{index}"))
        oracle = Oracle(self.policy, self.lines, self.defaults)
        self.cases, self.open_cases = [], []
        for line, now in drafts:
            try:
                self.cases.append((line, oracle.decide(line, self.source, now)))
            except Unfixed:
                self.open_cases.append(line)

    def draft(self, rng, name):
        """One user's documents (into `lines`) and one candidate: (line, instant or None)."""
        zone = rng.choice(shapes.ZONES) if rng.random() < 0.7 else rng.choice(sorted(window.zone_ids()))
        now = self.now if self.now is not None else shapes.now_for(rng, zone)
        user_id = f"u-{name}" + (rng.choice(shapes.ODD_TEXTS) if rng.random() < 0.1 else "")
        if rng.random() < 0.03:
            user_id = user_id.ljust(128, "u")[:128] if user_id.isascii() else user_id
        made, found = documents.document(rng, user_id, zone, now), None
        kind = rng.random()
        if kind > 0.04:
            if rng.random() < 0.05:
                earlier = documents.document(rng, user_id, zone, now)
                earlier = documents.spoil(rng, earlier) if rng.random() < 0.5 else earlier
                self.lines.append(shapes.write(rng, earlier).encode())
            made = documents.spoil(rng, made) if kind < 0.08 else made
            line = shapes.write(rng, made).encode()
            self.lines.append(line)
            found = self.readable(line, user_id)
        has_clock = self.now is None
        members = candidates.build(rng, self.policy, self.source, found, user_id, f"n-{name}", now, has_clock)
        kind = rng.random()
        limit = self.policy["record_bytes_max"]
        if kind < 0.12:
            line = candidates.spoil(rng, members, limit)
        elif kind < 0.14:
            line = candidates.padded(rng, members, limit)
        elif kind < 0.16:
            line = candidates.leave_open(rng, members)
        else:
            line = candidates.write_line(rng, members)
        return line, now if not has_clock or self.is_readable(line) else None

    @staticmethod
    def readable(line, user_id):
        """The document, to aim a candidate at; nothing where it cannot be read, or may be read either way."""
        try:
            found = inputs.read_preferences([line])[user_id]
        except Unfixed:
            return None
        return None if found is inputs.UNREADABLE else found

    def is_readable(self, line):
        """Whether a candidate's own clock can be read; what cannot be read may be stamped at will."""
        try:
            inputs.Candidate(line, self.policy["record_bytes_max"])
        except (inputs.Unreadable, Unfixed):
            return False
        return True

    def run(self, command, cases):
        """[(line, problem)] for the cases that do not hold; a wrong number of records is narrowed down by halving."""
        problem, records = self.evaluate(command, [line for line, _ in cases])
        wanted = sum(len(expected) for _, expected in cases)
        if problem is None and len(records) != wanted:
            problem = f"wanted {wanted} records, got {len(records)}"
        if problem is not None:
            if len(cases) == 1:
                return [(cases[0][0], problem)]
            if self.evaluate(command, [])[0] is not None:
                # It fails without any candidate, so halving would find nothing: the flags, a file or the policy is it.
                return [(line, problem) for line, _ in cases]
            half = len(cases) // 2
            return self.run(command, cases[:half]) + self.run(command, cases[half:])
        failures, at = [], 0
        for line, expected in cases:
            got = records[at : at + len(expected)]
            at += len(expected)
            words = [w for i, pair in enumerate(zip(expected, got)) for w in record_problems(i, *pair)]
            if words:
                failures.append((line, "\n".join(words)))
        return failures

    def run_open(self, command):
        """[(line, problem)] for the inputs left open: each must yield a readable record, and the process must live."""
        failures = []
        for line in self.open_cases:
            problem, records = self.evaluate(command, [line])
            if problem is None and not records:
                problem = "no record came of it"
            words = (
                [problem]
                if problem
                else [w for record in records for w in record_problems(0, {"outcome": Text()}, record)]
            )
            if words:
                failures.append((line, "\n".join(words)))
        return failures

    def evaluate(self, command, lines):
        """(problem, None) or (None, output lines)."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = [*command, "evaluate", "--source", self.source]
            files = [
                ("--preferences", b"\n".join(self.lines) + b"\n"),
                ("--defaults", b"\n".join(self.defaults) + b"\n"),
            ]
            if self.names_policy:
                files.append(("--policy", json.dumps(self.policy).encode()))
            if not self.defaults:
                files.pop(1)
            for flag, content in files:
                path = os.path.join(folder, flag[2:])
                with open(path, "wb") as file:
                    file.write(content)
                arguments += [flag, path]
            arguments += ["--clock", "record"] if self.now is None else ["--now", instants.to_text(self.now)]
            try:
                done = subprocess.run(
                    arguments, input=b"\n".join(lines) + b"\n", capture_output=True, timeout=TIMEOUT_SECONDS
                )
            except subprocess.TimeoutExpired:
                return f"no end after {TIMEOUT_SECONDS} s", None
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-400:]}", None
        return None, [line for line in done.stdout.split(b"\n") if line.strip()]


def record_problems(index, expected, line):
    """What is wrong with one output line, in words."""
    try:
        # The candidate lies one level down in the record.
        node = strict_json.parse(line, depth_max=strict_json.DEPTH_MAX + 1)
    except strict_json.Malformed as error:
        return [f"  record {index} is not JSON: {error}"]
    if node.kind != "object":
        return [f"  record {index} is no object"]
    names = [name for name, _ in node.value]
    if len(set(names)) != len(names):
        return [f"  record {index} repeats a member: {names}"]
    # Embedded byte for byte: compared as bytes, not as what they mean.
    got = {name: child.raw if name == "notification" else plain(child) for name, child in node.value}
    return [
        f"  record {index} {path}: wanted {want!r}, got {have!r}" for path, want, have in differences(expected, got)
    ]


def plain(node):
    """As the standard library would read it, integers as int."""
    if node.kind == "object":
        return {name: plain(child) for name, child in node.value}
    if node.kind == "array":
        return [plain(child) for child in node.value]
    if node.kind == "number":
        return int(node.raw) if instants.INTEGER.fullmatch(node.raw) and len(node.raw) < 20 else float(node.raw)
    return node.value


def show(group, number, line, problem, seed):
    policy = "given" if group.names_policy else "built in"
    print(f"--- seed {seed}, group {number}, source {group.source}, policy {policy}")
    if group.now is not None:
        print(f"  now       {instants.to_text(group.now)}")
    print(f"  candidate {line[:1500]!r}")
    ids = inputs.readable_ids(line) or {}
    for document in group.lines:
        if ids.get("user_id") is not None and strict_json.parse(document).get("user_id").value == ids["user_id"]:
            print(f"  document  {document[:3000].decode(errors='replace')}")
    for default in group.defaults:
        print(f"  default   {default.decode()}")
    print(problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--group", type=int, help="run this group alone")
    parser.add_argument("command", nargs="+", metavar="SENDGATE")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    groups = range(-(-options.cases // GROUP_CASES)) if options.group is None else (options.group,)
    passed = failed = 0
    for number in groups:
        size = GROUP_CASES if options.group is not None else min(GROUP_CASES, options.cases - number * GROUP_CASES)
        group = Group(options.seed, number, size)
        failures = group.run(options.command, group.cases) + group.run_open(options.command)
        for line, problem in failures[: max(0, SHOWN_MAX - failed)]:
            show(group, number, line, problem, options.seed)
        failed += len(failures)
        passed += len(group.cases) + len(group.open_cases) - len(failures)
    if failed > SHOWN_MAX:
        print(f"… {failed - SHOWN_MAX} more not shown")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()

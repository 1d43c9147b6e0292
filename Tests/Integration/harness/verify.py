"""What must hold of every record the gate writes: contract schema, decision, key, partition, headers, times."""

import functools
import json
import pathlib
import sys
import time

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from harness.checking import CheckFailed, expect, expect_equal, until_equal
from harness.murmur2 import partition_of

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Tests/oracle"))
import inputs  # noqa: E402
import instants  # noqa: E402
from expect import differences  # noqa: E402
from oracle import BUILT_IN_POLICY, Oracle  # noqa: E402

OWN_HEADERS = ("outcome", "reason", "notification_id")
# The gate and the tests read one clock; a record's timestamp is cut to the millisecond.
CLOCK_SLACK_MS = 5


@functools.cache
def validators():
    """outcome (and `receipt`) -> validator of its schema."""
    schemas = {path.name: json.loads(path.read_text()) for path in (ROOT / "deploy/contracts").glob("*.schema.json")}
    registry = Registry()
    for schema in schemas.values():
        registry = registry.with_resource(schema["$id"], Resource.from_contents(schema))
    return {
        outcome: Draft202012Validator(schemas[f"{outcome}.schema.json"], registry=registry)
        for outcome in ("approved", "deferred", "dropped", "receipt")
    }


def check_schema(output):
    errors = sorted(validators()[output.topic].iter_errors(output.record), key=str)
    if errors:
        raise CheckFailed(f"not by its schema: {errors[0].json_path}: {errors[0].message:.500} in {output}")


def check_envelope(output, sent):
    """Key, partition and headers of an output, by its candidate."""
    record = output.record
    expect_equal(record["outcome"], output.topic, f"the outcome against the topic of {output}")
    expect_equal(output.partition, sent.partition, f"the partition of {output}, against its candidate's")
    if output.topic == "deferred":
        parts = (record["user_id"], record["notification_id"], record["device_id"])
        expect_equal(output.key, b"\0".join(part.encode() for part in parts), f"the hold's key of {output}")
    elif record["reason"] != "invalid_candidate":
        expect_equal(output.key, record["user_id"].encode(), f"the key of {output}")
    for name in OWN_HEADERS:
        wanted = None if record[name] is None else record[name].encode()
        if wanted is None:
            expect(output.header(name) in (None, b""), f"header {name} of a record that has none: {output}")
        else:
            expect_equal(output.header(name), wanted, f"header {name} of {output}")
    carried = [(name, value) for name, value in output.headers if name not in OWN_HEADERS]
    wanted = [(name, value) for name, value in sent.headers if name not in OWN_HEADERS]
    expect_equal(carried, wanted, f"the headers carried by {output}")


def check_times(output, sent):
    decided = instants.from_text(output.record["decided_at"])
    now = int(time.time() * 1000)
    expect(
        sent.timestamp - CLOCK_SLACK_MS <= decided <= now + CLOCK_SLACK_MS,
        f"decided at {decided}, written at {sent.timestamp}, read at {now}: {output}",
    )


class Judge:
    """Decides a world's candidates a second time, by the oracle, on the documents that the outputs name."""

    def __init__(self, world, policy=None):
        self.world = world
        with open(policy or BUILT_IN_POLICY, "rb") as file:
            self.policy = json.load(file)
        self.oracle = Oracle(self.policy, ())
        self.documents = {(sent.partition, sent.offset): sent for sent in world.documents}
        self.by_id = {}
        self.by_bytes = {}
        for sent in world.candidates:
            self.by_bytes.setdefault(sent.value or b"", []).append(sent)
            try:
                ids = inputs.readable_ids(sent.value or b"") or {}
            except instants.Unfixed:
                ids = {}
            if "notification_id" in ids:
                self.by_id.setdefault(ids["notification_id"], []).append(sent)

    def check(self, outputs):
        """Every output, wholly."""
        for output in outputs:
            check_schema(output)
            if output.record["reason"] == "invalid_candidate":
                continue  # hostile records are matched by their bytes, by the tests that send them
            sents = self.by_id.get(output.record["notification_id"])
            expect(sents, f"an output of a notification that nobody sent: {output}")
            sent = next((sent for sent in sents if sent.value.strip(b" \t\r\n") in output.value), None)
            expect(sent is not None, f"the candidate is not carried byte for byte: {output}")
            check_envelope(output, sent)
            check_times(output, sent)
            self.check_decision(output, sent)

    def check_decision(self, output, sent):
        record = output.record
        offset = record["preference_offset"]
        self.oracle.preferences = {}
        if offset is not None:
            key = (self.preference_partition(sent), offset)
            document = self.documents.get(key)
            expect(document is not None, f"no document of the test's is at {key}: {output}")
            expect_equal(document.key, record["user_id"].encode(), f"whose document decided {output}")
            self.oracle.preferences = inputs.read_preferences([document.value])
        now = instants.from_text(record["decided_at"])
        problems = []
        source = "security" if sent.topic == "candidate.security" else "candidate"
        for defaults in self.defaults_in_turn():
            self.oracle.defaults = defaults
            expected = self.oracle.decide(sent.value, source, now)
            mine = [want for want in expected if not differences(want["device_id"], record["device_id"])]
            raw = {name: want["notification"] for name, want in enumerate(mine)}
            expect(
                all(value in output.value for value in raw.values()),
                f"the candidate's bytes are not in {output}",
            )
            for want in mine:
                want.pop("notification", None)
                found = differences(want, record)
                if not found:
                    return
                problems.append(found)
            if not mine:
                problems.append(f"no record of device {record['device_id']!r} is due")
        raise CheckFailed(f"not what the oracle decides: {problems} in {output}")

    def preference_partition(self, sent):
        return partition_of(sent.key, self.world.partitions["preferences.state"])

    def defaults_in_turn(self):
        """Every state the defaults topic has been in."""
        yield {}
        for number in range(1, len(self.world.defaults) + 1):
            lines = [sent.value for sent in self.world.defaults[:number] if sent.value is not None]
            yield inputs.read_defaults(lines)


def check_all(world, outputs, policy=None):
    Judge(world, policy).check(outputs)


def check_ended_cleanly(world):
    """No transaction is left open on an output topic: a reader of committed records sees its end."""
    # A coordinator answers before its markers are written. One that was left open stays so for far longer.
    until_equal(world.open_partitions, [], "output partitions with an open transaction", 3)

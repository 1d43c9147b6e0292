"""Candidates by number, what must become of each, and the count of what did.

The issuer is the oracle: candidate i belongs to a user of a known kind, and the kind says, device by device, on
which topic its record must be, once.
"""

import array
import json
import re

from harness.checking import CheckFailed, expect, let_pass, until
from harness.reading import Reader
from harness.records import ALL_DAY, candidate, choice, device, document, encode
from harness.world import Background

USERS_OF_A_KIND = 40
# kind -> (category, account, devices, the topic for each device)
KINDS = {
    "one": ("social", {}, [device("d-0")], ["approved"]),
    "two": ("social", {}, [device("d-0"), device("d-1", token_status="revoked")], ["approved", "dropped"]),
    "held": ("transactional", {"quiet_hours": ALL_DAY}, [device("d-0")], ["deferred"]),
    "off": ("social", {"categories": {"social": choice("user-off")}}, [device("d-0")], ["dropped"]),
    "some": (
        "transactional",
        {},
        [device("d-0"), device("d-1", quiet_hours=ALL_DAY), device("d-2", os_permission="denied")],
        ["approved", "deferred", "dropped"],
    ),
    "nobody": ("marketing", None, [], ["dropped"]),
}
NAMES = list(KINDS)
DEVICES_MAX = 3
LOAD_STEP = 1000
HEAD = re.compile(rb'"notification_id":"n(\d+)".{0,200}?"device_id":(?:"d-(\d)"|null)')


def kind_of(number):
    return NAMES[number % len(NAMES)]


def user_of(number):
    return f"{kind_of(number)}-{number // len(NAMES) % USERS_OF_A_KIND}"


def write_documents(world):
    for name, (_, account, devices, _) in KINDS.items():
        if account is not None:
            for number in range(USERS_OF_A_KIND):
                world.prefer(document(f"{name}-{number}", devices=devices, **account), flush=False)
    world.flush()


class Doubled(CheckFailed):
    """A (notification, device) came more than once."""


class Ledger:
    """Counts records by (number, device). Candidates 0 to `issued` are out."""

    def __init__(self, world):
        self.world = world
        self.issued = 0
        self.counts = array.array("B")
        self.records = 0
        self.reader = LedgerReader(
            world.broker.bootstrap, {n: world.topics[n] for n in ("approved", "deferred", "dropped")}
        )
        self.reader.ledger = self
        world.readers.append(self.reader)

    def issue(self, count):
        """Writes the next `count` candidates, and has them acknowledged."""
        first, self.issued = self.issued, self.issued + count
        self.counts.frombytes(bytes(count * DEVICES_MAX))
        topic, producer, failures = self.world.topics["candidate"], self.world.producer, []

        def on_delivery(error, _):
            if error is not None:
                failures.append(error)

        for number in range(first, first + count):
            user_id = user_of(number)
            value = encode(candidate(f"n{number}", user_id, KINDS[kind_of(number)][0], payload={"n": number}))
            while True:
                try:
                    producer.produce(topic, value, user_id.encode(), on_delivery=on_delivery)
                    break
                except BufferError:
                    producer.poll(0.05)
        left = producer.flush(120)
        expect(left == 0 and not failures, f"{left} candidates were not acknowledged; failures: {failures[:3]}")

    def load(self, ahead_max, at_least=0):
        """Candidates beside the test until it says stop and there are `at_least`; the gate is never left without work,
        nor `ahead_max` behind."""
        before, start = self.issued, self.world.progress()

        def run(stopping):
            while not stopping.is_set() or self.issued - before < at_least:
                if self.issued - before > self.world.progress() - start + ahead_max:
                    self.world.producer.poll(0.02)
                else:
                    self.issue(LOAD_STEP)

        return Background(run)

    def take(self, topic, message):
        value = message.value()
        match = HEAD.search(value, 0, 600)
        if match:
            number, slot = int(match.group(1)), int(match.group(2) or 0)
        else:
            record = json.loads(value)
            number = int(record["notification_id"][1:])
            slot = 0 if record["device_id"] is None else int(record["device_id"][2:])
        wanted = KINDS[kind_of(number)][3]
        if number >= self.issued or slot >= len(wanted) or wanted[slot] != topic:
            raise CheckFailed(f"a record that is not due on {topic}: {value[:800]!r}")
        self.records += 1
        place = number * DEVICES_MAX + slot
        self.counts[place] += 1
        if self.counts[place] > 1:
            where = f"{topic} {message.partition()}@{message.offset()}"
            raise Doubled(f"doubled: n{number} of d-{slot} came {self.counts[place]} times, the last at {where}")

    def check(self, seconds=90):
        """Every (notification, device) exactly once across the three topics, and nothing left open."""
        due = sum(len(KINDS[kind_of(number)][3]) for number in range(self.issued))

        def complete():
            self.reader.to_end(seconds)
            return self.records >= due

        try:
            until(f"{due} records are there", complete, seconds, every=0.2)
        except Doubled:
            raise
        except CheckFailed as error:
            raise CheckFailed(f"{error}; {self.missing()}") from None
        # What comes late comes behind what is there: the end once more, after transactions have ended.
        until("no transaction is open", lambda: not self.world.open_partitions(), seconds, every=0.2)
        self.reader.to_end(seconds)
        expect(self.records == due, f"{self.records} records where {due} are due")

    def missing(self):
        found = [
            f"n{number} of d-{slot}"
            for number in range(self.issued)
            for slot in range(len(KINDS[kind_of(number)][3]))
            if self.counts[number * DEVICES_MAX + slot] == 0
        ]
        return f"{len(found)} missing: {', '.join(found[:10])}"


class LedgerReader(Reader):
    """Hands records to the ledger and keeps none."""

    ledger = None

    def __init__(self, *args, **properties):
        super().__init__(*args, **{"queued.max.messages.kbytes": 65_536, **properties})

    def keep(self, message):
        self.ledger.take(self.names[message.topic()], message)


def at_progress(world, target, seconds=120):
    """Waits until the gate has committed `target` candidates in all."""
    return until(f"{target} candidates are committed", lambda: world.progress() >= target, seconds, every=0.01)


def random_moment(world, ms_max=250):
    """Picks the instant of a blow."""
    let_pass(world.random.uniform(0, ms_max) / 1000)

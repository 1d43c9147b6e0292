"""Rounds of held notifications on gates that are killed and come and go, and a reader that hands all to the judges."""

import functools
import json
import os
import time

from harness.changing_zones import QuietTable, make_zones, write_database
from harness.checking import CheckFailed, expect_equal, let_pass, until
from harness.hold_judge import Judge, Record
from harness.hold_plan import CHANGED_AT, ISSUED_WITHIN, Round, number_of
from harness.reading import Reader
from harness.records import encode
from harness.verify import instants
from harness.world import OUTPUTS, Background

PARTITIONS = 6
SPREAD_SECONDS = 3
# From a round's start to its last window's end, and some more.
ROUND_SECONDS = 100
INTERVAL_SECONDS = 37
RECOVERY_SECONDS_MAX = 45
# Compacted as in production, in segments that are soon over: what a restore reads is mostly what is alive. Not sooner
# than the judge has read it: a hold whose record was gone before would look like one that never was.
DEFERRED = {
    "cleanup.policy": "compact",
    "segment.bytes": 16_777_216,
    "segment.ms": 20_000,
    "min.compaction.lag.ms": 300_000,
    "min.cleanable.dirty.ratio": 0.1,
}
SETTINGS = {
    "kafka__session__timeout__ms": 6000,
    "drain__timeout__ms": 5000,
    "release__spread_seconds": SPREAD_SECONDS,
    "release__apns_per_second": "",
    "release__fcm_per_second": "",
}


def now_ms():
    return time.time_ns() // 1_000_000


@functools.lru_cache(maxsize=1 << 16)
def second_of(text):
    return instants.from_text(text + "Z")


def ms_of(text):
    """Milliseconds of an instant as the gate writes it, `2026-03-09T22:30:00.000Z`."""
    return second_of(text[:19]) + int(text[20:23])


class HoldReader(Reader):
    """Hands what it reads to the rounds' judges and keeps none."""

    judges = ()

    def keep(self, message):
        topic, value = self.names[message.topic()], message.value()
        if value is None:
            _, notification_id, device_id = message.key().decode().split("\0")
            record = None
        else:
            made = json.loads(value)
            expect_equal(made["outcome"], topic, f"the outcome on {topic}")
            notification_id, device_id = made["notification_id"], made["device_id"]
            held, newer = made.get("held"), made.get("superseded_by")
            record = Record(
                made["outcome"],
                made["reason"],
                made["blocked_by"],
                ms_of(made["decided_at"]),
                message.timestamp()[1],
                made["preference_version"],
                ms_of(made["deliver_after"]) if "deliver_after" in made else None,
                held and (ms_of(held["decided_at"]), ms_of(held["deliver_after"])),
                newer and number_of(newer)[1],
                message.offset(),
            )
        number, index = number_of(notification_id)
        judge = self.judges[number]
        if judge is None:
            raise CheckFailed(f"{notification_id} of {device_id} came after all of its round had ended: {record}")
        judge.take(index, device_id, record)


class Instances:
    """Two gates, of which one is killed and a third comes and goes, and how long each time the others took to recover."""

    def __init__(self, world, environment):
        self.world, self.environment = world, environment
        self.turn = 0
        self.gates = [self._start(f"gate-{number}") for number in range(2)]
        self.joiner = None
        self.disruptions = []
        self._await_owned()

    def _start(self, name):
        self.turn += 1
        return self.world.gate(f"{name}/{self.turn}", environment=self.environment, **SETTINGS)

    def _alive(self):
        return [gate for gate in self.gates + [self.joiner] if gate is not None]

    def _owned(self, gate):
        """(owned partitions, being restored) of the ordinary lane; none where it does not answer yet."""
        if gate.get("/livez")[0] is None:
            return 0, 0
        names = "sendgate_owned_partitions", "sendgate_restoring_partitions"
        return tuple(gate.value(name, lane="ordinary-0") or 0 for name in names)

    def _await_owned(self, newcomer=None):
        """Waits until every partition has an owner that has read its holds back, and the newcomer has some."""
        calm = 0

        def look():
            nonlocal calm
            owned = {gate: self._owned(gate) for gate in self._alive()}
            total, restoring = (sum(part) for part in zip(*owned.values()))
            is_calm = total == PARTITIONS and restoring == 0 and (newcomer is None or owned[newcomer][0] > 0)
            calm = calm + 1 if is_calm else 0
            return calm >= 3

        until("every partition is owned and restored", look, RECOVERY_SECONDS_MAX, every=0.1)

    def _disrupt(self, blow):
        begun = now_ms()
        newcomer = blow()
        self._await_owned(newcomer)
        self.disruptions.append((begun, now_ms()))

    def kill(self, number):
        def blow():
            expect_equal(self.gates[number].kill(), -9, "the exit code of what was killed")
            self.gates[number] = self._start(f"gate-{number}")
            return self.gates[number]

        self._disrupt(blow)

    def join(self):
        def blow():
            self.joiner = self._start("gate-2")
            return self.joiner

        self._disrupt(blow)

    def leave(self):
        def blow():
            leaver, self.joiner = self.joiner, None
            leaver.drain()

        self._disrupt(blow)

    def drain(self):
        for gate in self._alive():
            gate.drain()


class Trial:
    """Rounds one after the other, overlapping, on one pair of gates."""

    def __init__(self, world, rounds, count):
        self.world, self.count = world, count
        seconds = 20 + rounds * INTERVAL_SECONDS + 2 * ROUND_SECONDS
        start = int(time.time())
        zones = make_zones(world.random.random(), start + 10, seconds)
        directory = write_database(zones, os.path.join(world.directory, "zoneinfo"))
        self.table = QuietTable(zones, start - 5, seconds)
        world.create_topics(partitions=PARTITIONS, config={"deferred": DEFERRED})
        self.instances = Instances(world, {"TZDIR": directory})
        self.reader = HoldReader(
            world.broker.bootstrap,
            {name: world.topics[name] for name in OUTPUTS},
            **{"queued.max.messages.kbytes": 65_536},
        )
        world.readers.append(self.reader)
        self.reader.judges = {}
        self.rounds = []
        self.next_at = time.time()

    def begin_round(self):
        """Its users are known to the gate when it returns; its candidates and changes come beside the test."""
        number = len(self.rounds)
        made = Round(f"{self.world.random.random()}", number, int(time.time()) + 2, self.count, self.table)
        self.rounds.append(made)
        self.reader.judges[number] = Judge(made, SPREAD_SECONDS * 1000)
        self._write_documents(made, 0)
        return Background(lambda stopping: self._issue(made, stopping))

    def _write_documents(self, made, which):
        """Every user's document number `which`, with the instants between which the gate may have come to know it."""
        wrote = [(index, versions[which]) for index, versions in enumerate(made.users) if len(versions) > which]
        since = now_ms()
        producer, topic = self.world.new_producer(), self.world.topics["preferences.state"]
        for index, version in wrote:
            version.since_ms = since
            value = made.document(index, version)
            producer.produce(topic, None if value is None else encode(value), made.user_id(index).encode())
        expect_equal(producer.flush(30), 0, "documents not acknowledged")
        for _, version in wrote:
            version.until_ms = now_ms()

    def _issue(self, made, stopping):
        topics = [self.world.topics["candidate"], self.world.topics["candidate.security"]]
        producer = self.world.new_producer(**{"queue.buffering.max.messages": 200_000})
        step = 1000
        for first in range(0, made.count, step):
            self._await(made.start + 3 + (ISSUED_WITHIN - 3) * first / made.count, stopping)
            for index in range(first, min(first + step, made.count)):
                key = made.user_id(made.user_of[index]).encode()
                producer.produce(topics[made.is_security(index)], encode(made.candidate(index)), key)
            producer.poll(0)
        expect_equal(producer.flush(60), 0, "candidates not acknowledged")
        self._await(made.start + CHANGED_AT, stopping)
        self._write_documents(made, 1)

    def _await(self, instant, stopping):
        while time.time() < instant and not stopping.is_set():
            let_pass(min(0.05, max(0, instant - time.time())))

    # Blows.

    def round_with_blows(self):
        """One instance is killed and another comes and goes, at random moments of the interval between two rounds."""
        chance = self.world.random
        # By the clock, so that judging does not make it longer.
        begun, self.next_at = max(self.next_at, time.time() - 10), self.next_at + INTERVAL_SECONDS
        work = self.begin_round()
        blows = [lambda: self.instances.kill(chance.randrange(2)), self.instances.join, self.instances.leave]
        if chance.random() < 0.5:
            blows = [blows[1], blows[0], blows[2]]
        for number, blow in enumerate(blows):
            self._read_until(begun + INTERVAL_SECONDS * (number + chance.random()) / len(blows))
            blow()
        self._read_until(begun + INTERVAL_SECONDS)
        return work

    def _read_until(self, instant):
        while time.time() < instant:
            self.reader.step(0.1)

    # The end of a round.

    def judge(self, number):
        made, judge = self.rounds[number], self.reader.judges[number]

        def complete():
            self.reader.step(0.2)
            return time.time() >= made.start + ROUND_SECONDS - 15 and not judge.missing()

        seconds = max(1, made.start + ROUND_SECONDS - time.time()) + 60
        try:
            until(f"round {number} has ended", complete, seconds, every=0.1)
        except CheckFailed as error:
            missing = judge.missing()
            raise CheckFailed(f"{error}; {len(missing)} have not: {', '.join(missing[:10])}") from None
        judge.disruptions = self.instances.disruptions
        judge.check()
        self.reader.judges[number] = None
        return judge

"""A repeated notification_id is let through once, whatever dies in between (requirements F2)."""

import json
import time

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, until, until_equal
from harness.ledger import random_moment
from harness.murmur2 import partition_of
from harness.records import ALL_DAY, candidate, device, document, encode
from harness.verify import BUILT_IN_POLICY, check_ended_cleanly
from harness.world import outputs_of

SHORT_SESSION = {"kafka__session__timeout__ms": 6000, "drain__timeout__ms": 5000}
USERS = 60


def reasons(outputs):
    return [(output.topic, output.record["reason"]) for output in outputs]


def state_key(user_id, notification_id, device_id):
    return b"\0".join(part.encode() for part in (user_id, "d", notification_id, device_id))


@case()
def repeats_are_dropped(world):
    """The same id adjacent, later, and after a clean restart: one approval; another device, user or lane is no repeat."""
    world.create_topics()
    world.prefer(document("u-1", devices=[device("d-1"), device("d-2")]))
    world.prefer(document("u-2"))
    world.prefer(document("u-3", quiet_hours=ALL_DAY))
    gate = world.gate()
    reader = world.reader()
    for _ in range(2):
        world.send(candidate("n-1", "u-1", device_id="d-1"))
    world.decide(reader, candidate("n-1", "u-1", device_id="d-1"), 3)
    found = outputs_of(reader.read, "n-1")
    expect_equal(sorted(reasons(found)), [("approved", "ok")] + [("dropped", "duplicate")] * 2, "adjacent repeats")
    for output in found:
        if output.topic == "dropped":
            expect_equal(output.record["blocked_by"], ["duplicate"], "blocked_by of a repeat")
    # To all devices: the one that has it is a repeat, the other is not.
    found = world.decide(reader, candidate("n-1", "u-1"), 5)
    expect_equal(
        [(output.record["device_id"], output.record["reason"]) for output in found[-2:]],
        [("d-2", "ok"), ("d-1", "duplicate")] if found[-2].topic == "approved" else [("d-1", "duplicate"), ("d-2", "ok")],
        "a fan-out after one device had it",
    )
    world.decide(reader, candidate("n-1", "u-2"), 6)
    world.decide(reader, candidate("h-1", "u-3", "transactional"))
    expect_equal(
        sorted(reasons(world.decide(reader, candidate("h-1", "u-3", "transactional"), 2))),
        [("deferred", "quiet_hours_deferred"), ("dropped", "duplicate")],
        "a held one and its repeat",
    )
    differing = "sendgate_duplicates_differing_total"
    expect_equal(gate.value(differing), 0, "repeats that say something else, so far")
    world.decide(reader, candidate("n-1", "u-2", payload={"title": "another"}), 7)
    until_equal(lambda: gate.value(differing), 1, "the repeat that says something else")
    # The same id on the other topic is another.
    login = candidate("s-1", "u-2", "security", event="login_alert")
    world.decide(reader, login)
    expect_equal(
        sorted(reasons(world.decide(reader, login, 2, security=True))), [("approved", "ok")] * 2, "the same id in each lane"
    )
    expect_equal(
        sorted(reasons(world.decide(reader, login, 3, security=True)))[-1], ("dropped", "duplicate"), "a repeat in the security lane"
    )
    gate.drain()
    again = world.gate("gate-0/again")
    for made, count, security in (
        (candidate("n-1", "u-2"), 8, False),
        (candidate("h-1", "u-3", "transactional"), 3, False),
        (login, 4, True),
    ):
        found = world.decide(reader, made, count, security=security)
        expect_equal(reasons(found)[-1], ("dropped", "duplicate"), f"{made['notification_id']} after a restart")
    remembered = "sendgate_duplicates_entries"
    until_equal(lambda: again.value(remembered, lane="ordinary-0"), 5, "ids that the ordinary lane remembers")
    again.drain()
    state = world.reader(["state"])
    expect_equal(
        {output.key: (output.partition, output.record["outcome"]) for output in state.to_end()},
        {
            state_key(user, name, where): (partition_of(user.encode(), 4), outcome)
            for user, name, where, outcome in (
                ("u-1", "n-1", "d-1", "approved"),
                ("u-1", "n-1", "d-2", "approved"),
                ("u-2", "n-1", "d-1", "approved"),
                ("u-2", "s-1", "d-1", "approved"),
                ("u-3", "h-1", "d-1", "deferred"),
            )
        },
        "what is on the state topic",
    )


class Repeats:
    """Issues ids several times over; counts what was let through."""

    def __init__(self, world):
        self.world = world
        self.issued = 0
        self.reader = world.reader(["approved", "dropped"])
        for number in range(USERS):
            world.prefer(document(f"u-{number}"), flush=False)
        world.flush()

    def issue(self, numbers):
        for number in numbers:
            user_id = f"u-{number % USERS}"
            self.world.write("candidate", user_id.encode(), encode(candidate(f"n-{number}", user_id)))
            self.issued += 1
        self.world.flush()

    def check(self, names):
        """Each id approved once; every other record of it a duplicate."""
        self.world.await_decided(90)
        until("no transaction is open", lambda: not self.world.open_partitions(), 60, every=0.2)
        outputs = self.reader.to_end()
        expect_equal(len(outputs), self.issued, "records in all")
        approved = [output.record["notification_id"] for output in outputs if output.topic == "approved"]
        twice = {name for name in approved if approved.count(name) > 1}
        expect(not twice, f"approved more than once: {sorted(twice)[:10]}")
        expect_equal(len(approved), names, "approvals")
        others = {output.record["reason"] for output in outputs if output.topic == "dropped"}
        expect(others <= {"duplicate"}, f"dropped for other reasons: {others}")


@case(EXACT)
def repeats_after_kills(world):
    """The same 3,000 ids again and again while the gate is killed with -9 five times amid them: each approved once."""
    world.create_topics(partitions=6)
    repeats = Repeats(world)
    gate = world.gate("gate-0/0", **SHORT_SESSION)
    for turn in range(5):
        before = world.progress()
        repeats.issue(range(3000))
        until("it is amid them", lambda: world.progress() > before, 60, every=0.005)
        random_moment(world, 150)
        gate.kill()
        gate = world.gate(f"gate-0/{turn + 1}", **SHORT_SESSION)
    repeats.issue(range(3000))
    repeats.check(3000)
    gate.drain()


@case(EXACT)
def repeats_across_instances(world):
    """Ids repeat while instances join, leave and are killed, so that partitions move each time: each approved once."""
    world.create_topics(partitions=6)
    repeats = Repeats(world)
    stayer = world.gate("gate-0", **SHORT_SESSION)
    stayer.await_ready()
    for turn in range(4):
        repeats.issue(range(turn * 500, turn * 500 + 1500))
        other = world.gate(f"gate-1/{turn}", **SHORT_SESSION)
        other.wait_for_output("Restored", 60)
        repeats.issue(range(turn * 500, turn * 500 + 1500))
        random_moment(world)
        if turn % 2:
            other.kill()
        else:
            other.drain()
        repeats.issue(range(turn * 500, turn * 500 + 1500))
    repeats.check(3000)
    stayer.drain()


@case(EXACT)
def state_moves_while_a_transaction_is_open(world):
    """The owner is frozen amid a transaction and its partitions move: the heir waits for its end, and lets no id through twice."""
    world.create_topics(partitions=2)
    repeats = Repeats(world)
    frozen = world.gate("gate-0", commit__interval__ms=500, transaction__timeout__ms=8000, **SHORT_SESSION)
    frozen.await_ready()

    def is_open():
        # Anew each time: one that was missed will not open again by itself.
        repeats.issue(range(500))
        return world.open_partitions(["state"])

    until("a transaction is open", is_open, 60)
    frozen.stop()
    repeats.issue(range(500))
    heir = world.gate("gate-1", **SHORT_SESSION)
    heir.wait_for_output("Restored partitions", 90)
    repeats.check(500)
    frozen.kill()
    repeats.issue(range(500))
    repeats.check(500)
    heir.drain()


@case()
def what_is_over_is_swept(world):
    """Seen ids past their horizon may come again, and their records are answered with null values; unreadable ones are told."""
    world.create_topics(partitions=2)
    world.prefer(document("u-1"))
    where = partition_of(b"u-1", 2)
    now = int(time.time() * 1000)

    def put(name, hours_ago):
        value = encode({"at": now - hours_ago * 3_600_000, "outcome": "approved"})
        world.write("state", state_key("u-1", name, "d-1"), value, partition=where)

    for number in range(50):
        put(f"old-{number}", 97)
    world.write("state", b"u-1\0c\0social\0daily", b"{}", partition=where)
    put("young", 95)
    world.write("state", state_key("u-1", "bad", "d-1"), b"?", partition=where)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    gate.wait_for_output("1 of them cannot be read", 60)
    (output,) = world.decide(reader, candidate("young", "u-1"))
    expect_equal(output.record["reason"], "duplicate", "within the horizon")
    (output,) = world.decide(reader, candidate("old-7", "u-1"))
    expect_equal(output.record["reason"], "ok", "past the horizon")
    state = world.reader(["state"])

    def last(read):
        return {output.key: output.value for output in read}

    gone = [state_key("u-1", f"old-{number}", "d-1") for number in range(50) if number != 7]
    state.until("the old ones are answered", lambda read: all(last(read).get(key, b"") is None for key in gone), 60)
    state.to_end()
    expect(last(state.read)[state_key("u-1", "old-7", "d-1")] is not None, "the id that came again was forgotten")
    expect(last(state.read)[state_key("u-1", "young", "d-1")] is not None, "an id within the horizon was forgotten")
    gate.drain()


@case()
def past_the_bound_the_oldest_are_forgotten(world):
    """duplicates_entries_max: past it the oldest may come again, the newest may not, and a gauge shows the horizon left."""
    with open(BUILT_IN_POLICY, encoding="utf-8") as file:
        policy = json.load(file)
    policy["duplicates_entries_max"] = 1000
    path = f"{world.directory}/policy.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy, file)
    world.create_topics(partitions=1, security=1)
    repeats = Repeats(world)
    gate = world.gate(policy__file=path)
    repeats.issue(range(1500))
    repeats.check(1500)

    horizon = "sendgate_duplicates_horizon_seconds"
    until("the gauge shows it", lambda: 0 < gate.value(horizon, lane="ordinary-0") < 3600, 30)
    for again, running in ((range(500, 1500), gate), (range(1400, 1500), None)):
        running = running or world.gate("gate-0/again", policy__file=path)
        repeats.issue(again)
        repeats.check(1500)
        running.drain()
    last = world.gate("gate-0/last", policy__file=path)
    repeats.issue(range(5))
    world.await_decided()
    check_ended_cleanly(world)
    reader = world.reader(["approved"])
    found = [output.record["notification_id"] for output in reader.to_end()]
    expect_equal(len(found), 1505, "approvals, the five forgotten ones twice")
    last.drain()


@case()
def repeats_with_at_least_once(world):
    """delivery=at_least_once: repeats are dropped, and after a clean restart still."""
    world.create_topics(partitions=2)
    repeats = Repeats(world)
    for turn in range(2):
        gate = world.gate(f"gate-0/{turn}", delivery="at_least_once")
        repeats.issue(range(300))
        repeats.issue(range(300))
        repeats.check(300)
        gate.drain()

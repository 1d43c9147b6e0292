"""What is held in quiet hours leaves once, when they end, under the rules of that moment, whatever dies in between."""

import random
import time
from datetime import datetime

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, let_pass, until, until_equal
from harness.made_zones import NIGHT, MadeZones, whole_second_in
from harness.records import candidate, choice, document, encode

SHORT_SESSION = {"kafka__session__timeout__ms": 6000, "drain__timeout__ms": 5000}
AT_ONCE = {"release__spread_seconds": 0, "release__apns_per_second": "", "release__fcm_per_second": ""}


def seconds(instant):
    """Unix time of a record's instant."""
    return datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


def sleeper(user_id, zone, version=1, devices=None, **account):
    return document(user_id, version, devices, **{"quiet_hours": NIGHT, "timezone": zone, **account})


def ends(outputs):
    """notification_id -> its approvals and drops."""
    found = {}
    for output in outputs:
        if output.topic != "deferred":
            found.setdefault(output.record["notification_id"], []).append(output)
    return found


def still_held(outputs):
    newest = {output.key: output for output in outputs if output.topic == "deferred"}
    return sorted(output.record["notification_id"] for output in newest.values() if output.value is not None)


def check_ended_once(world, reader, names, end, late=1.0, reasons=("released",)):
    """Each of these ended once, for one of `reasons`, not before `end` and not `late` seconds after it; nothing is held."""
    outputs = reader.to_end()
    ended = ends(outputs)
    expect_equal(still_held(outputs), [], "still held")
    for name in names:
        found = ended.get(name, [])
        expect_equal(len(found), 1, f"records that end {name}: {found}")
        record = found[0].record
        expect(record["reason"] in reasons, f"{name} ended as {record['reason']}")
        expect(seconds(record["held"]["decided_at"]) < end, f"{name} was not held")
        at = seconds(record["decided_at"])
        expect(at >= end, f"{name} ended {end - at} s early")
        if late is not None:
            expect(at <= end + late, f"{name} ended {at - end} s late")
    expect_equal(len(ended), len(names), "notifications that ended")


class Sleepers:
    """Users in a zone whose night ends soon, and what is held for them."""

    def __init__(self, world, count, until_end, **account):
        self.world, self.count = world, count
        self.zones = MadeZones(world.directory)
        self.end = whole_second_in(until_end)
        self.zone = self.zones.night_until("Test/Soon", self.end)
        self.names = []
        for number in range(count):
            world.prefer(sleeper(f"u-{number}", self.zone, **account), flush=False)
        world.flush()

    def send(self, number, **members):
        name = f"n-{number}"
        user_id = f"u-{number % self.count}"
        made = candidate(name, user_id, "transactional", **members)
        self.world.write("candidate", user_id.encode(), encode(made))
        self.names.append(name)

    def await_held(self, reader):
        reader.until("all are held", lambda read: len(still_held(read)) >= len(self.names), 30)

    def await_end(self, after=0.0):
        let_pass(max(0.0, self.end + after - time.time()))


@case(timed=True)
def released_when_the_night_ends(world):
    """Held, then released to the second, with headers and the first decision; opt-out, erasure, flight and a newer one meanwhile."""
    world.create_topics()
    people = Sleepers(world, 24, 15)
    later = people.zones.night_until("Test/Later", people.end + 3)
    gate = world.gate(environment=people.zones.environment, **AT_ONCE)
    reader = world.reader()
    gate.await_ready()
    for number in range(20):
        sent = candidate(f"n-{number}", f"u-{number}", "transactional")
        world.send(sent, headers=[("traceparent", f"t-{number}".encode()), ("empty", b""), ("none", None)])
        people.names.append(f"n-{number}")
    for name, user_id in (("off", "u-20"), ("gone", "u-21"), ("flown", "u-22"), ("older", "u-23"), ("newer", "u-23")):
        more = {"collapse_key": "k"} if user_id == "u-23" else {}
        world.send(candidate(name, user_id, "transactional", **more))
    world.flush()
    # The older one's end and the newer one are on two topics, and may be read in any order.
    reader.until("the newer one is held, all others too", lambda read: "older" in ends(read) and len(still_held(read)) == 24, 30)
    expect_equal([output.record["reason"] for output in ends(reader.read)["older"]], ["superseded"], "the older one")
    expect_equal(ends(reader.read)["older"][0].record["superseded_by"], "newer", "what took its place")
    world.prefer(sleeper("u-20", people.zone, 2, categories={"transactional": choice("user-off")}))
    world.prefer(None, "u-21")
    world.prefer(sleeper("u-22", later, 2))
    reader.until("the erased one's hold is gone", lambda read: "gone" not in still_held(read))
    reader.until("all but the erased ended", lambda read: len(ends(read)) == 24, 60)
    found = ends(reader.to_end())
    expect_equal(still_held(reader.read), [], "still held")
    expect("gone" not in found, "the erased user's notification left a record")
    expect_equal([output.record["reason"] for output in found["off"]], ["account_opted_out"], "after the opt-out")
    for name in people.names + ["newer"]:
        (output,) = found[name]
        expect_equal((output.topic, output.record["reason"]), ("approved", "released"), name)
        at = seconds(output.record["decided_at"])
        expect(people.end <= at <= people.end + 1, f"{name} left {at - people.end} s after the end")
        expect_equal(seconds(output.record["held"]["deliver_after"]), people.end, f"first deliver_after of {name}")
    at = seconds(found["flown"][0].record["decided_at"])
    expect(people.end + 3 <= at <= people.end + 4, f"who flew on: {at - people.end} s after the first end")
    (output,) = found["n-7"]
    expect_equal(output.headers[:3], [("traceparent", b"t-7"), ("empty", b""), ("none", None)], "headers carried over the hold")
    expect_equal((output.header("outcome"), output.header("reason")), (b"approved", b"released"), "headers of its own")
    wanted = {"added": 25, "released": 22, "dropped": 1, "superseded": 1, "held_on": 0, "erased": 1}

    def results():
        return {result: gate.value("sendgate_hold_results_total", result=result) for result in wanted}

    until_equal(results, wanted, "what became of holds, by the metrics")
    gate.drain()


@case(EXACT)
def holds_survive_kills(world):
    """Killed with -9 while it holds, again amid the release, and down while one is due: each is released once."""
    world.create_topics(partitions=6)
    people = Sleepers(world, 300, 25)
    reader = world.reader()
    gate = world.gate("gate-0/0", environment=people.zones.environment, **SHORT_SESSION, **AT_ONCE)
    gate.await_ready()
    for turn in range(3):
        for number in range(turn * 700, turn * 700 + 700):
            people.send(number)
        world.flush()
        let_pass(random.uniform(0.1, 0.5))
        gate.kill()
        gate = world.gate(f"gate-0/{turn + 1}", environment=people.zones.environment, **SHORT_SESSION, **AT_ONCE)
    world.await_decided()
    people.await_end(0.02)
    reader.until("some have left", lambda read: any(output.topic == "approved" for output in read), 30)
    gate.kill()
    gate = world.gate("gate-0/last", environment=people.zones.environment, **SHORT_SESSION, **AT_ONCE)
    reader.until("all have left", lambda read: len(ends(read)) == len(people.names), 60)
    # What a killed gate left to do waits for the next one.
    check_ended_once(world, reader, people.names, people.end, late=None)
    gate.drain()


@case(EXACT)
def holds_move_while_a_transaction_is_open(world):
    """The owner is frozen amid a transaction that holds, its partitions move, and the night ends: the heir releases each once."""
    world.create_topics(partitions=2)
    people = Sleepers(world, 100, 16)
    reader = world.reader()
    frozen = world.gate(
        "gate-0", environment=people.zones.environment, commit__interval__ms=500, transaction__timeout__ms=6000,
        **SHORT_SESSION, **AT_ONCE,
    )
    frozen.await_ready()
    world.open_partitions(["deferred"])  # connects

    def is_open():
        # More each time: a transaction that was missed will not open again by itself.
        for _ in range(20):
            people.send(len(people.names))
        world.flush()
        return world.open_partitions(["deferred"])

    until("a transaction is open", is_open, 10)
    frozen.stop()
    heir = world.gate("gate-1", environment=people.zones.environment, **SHORT_SESSION, **AT_ONCE)
    heir.wait_for_output("Restored partitions", 90)
    for number in range(len(people.names), 600):
        people.send(number)
    world.flush()
    reader.until("all have ended", lambda read: len(ends(read)) == len(people.names), 60)
    outputs = reader.to_end()
    expect_equal({name: len(found) for name, found in ends(outputs).items() if len(found) != 1}, {}, "ended more than once")
    expect_equal(still_held(outputs), [], "still held")
    frozen.kill()
    heir.drain()


@case(timed=True)
def the_release_is_paced(world):
    """600 due at one instant, 100 a second: no second sees more, in no partition's favour, and all leave."""
    world.create_topics(partitions=3)
    people = Sleepers(world, 200, 12)
    reader = world.reader(["approved", "deferred"])
    gate = world.gate(environment=people.zones.environment, **{**AT_ONCE, "release__apns_per_second": 100})
    gate.await_ready()
    for number in range(600):
        people.send(number)
    world.flush()
    people.await_held(reader)

    overdue = "sendgate_holds_overdue"
    until("the overdue ones show", lambda: gate.value(overdue) > 100, 60)
    reader.until("all have left", lambda read: len(ends(read)) == 600, 60)
    check_ended_once(world, reader, people.names, people.end, late=10)
    times = sorted(seconds(found[0].record["decided_at"]) for found in ends(reader.read).values())
    for first, later in zip(times, times[100:]):
        expect(later - first >= 0.999, f"101 within {later - first} s")
    until_equal(lambda: gate.value(overdue), 0, "the overdue ones")
    gate.drain()


@case(timed=True)
def new_zones_move_what_is_held(world):
    """A new tz database ends the night at once: what is held leaves when the gate has read it, not before."""
    world.create_topics(partitions=2)
    people = Sleepers(world, 50, 600)
    reader = world.reader()
    gate = world.gate(environment=people.zones.environment, zones__check__interval__ms=1000, **AT_ONCE)
    gate.await_ready()
    for number in range(500):
        people.send(number)
    world.flush()
    people.await_held(reader)
    moved = time.time()
    people.zones.night_until("Test/Soon", int(moved) - 60)
    reader.until("all have left", lambda read: len(ends(read)) == 500, 30)
    for name, found in ends(reader.read).items():
        expect(seconds(found[0].record["decided_at"]) >= int(moved), f"{name} left before the change")
        expect_equal([output.record["reason"] for output in found], ["released"], name)
    gate.drain()


@case()
def more_held_than_memory_takes(world):
    """Records over release.payload_bytes_max are dropped from memory and read from the topic when they are due."""
    world.create_topics(partitions=1, security=1)
    people = Sleepers(world, 100, 16)
    reader = world.reader()
    gate = world.gate(environment=people.zones.environment, release__payload_bytes_max=1048576, **AT_ONCE)
    gate.await_ready()
    for number in range(3000):
        people.send(number, payload={"text": random.randbytes(700).hex()})
    world.flush()
    people.await_held(reader)

    until("memory is within its limit", lambda: gate.value("sendgate_holds_payload_bytes") < 2 * 1048576)
    reader.until("all have left", lambda read: len(ends(read)) == 3000, 60)
    check_ended_once(world, reader, people.names, people.end, late=30)
    gate.drain()


@case()
def holds_with_at_least_once(world):
    """delivery=at_least_once: held, killed with -9, and released: none is lost."""
    world.create_topics(partitions=2)
    people = Sleepers(world, 100, 12)
    reader = world.reader()
    settings = {"delivery": "at_least_once", **SHORT_SESSION, **AT_ONCE}
    gate = world.gate("gate-0/0", environment=people.zones.environment, **settings)
    gate.await_ready()
    for number in range(500):
        people.send(number)
    world.flush()
    people.await_held(reader)
    gate.kill()
    again = world.gate("gate-0/1", environment=people.zones.environment, **settings)
    # What was held before its offset was kept is read again, and is a duplicate of the one that is held.
    reader.until("all have left", lambda read: not still_held(read), 60)
    again.drain()
    read = reader.to_end()
    expect_equal(still_held(read), [], "still held")
    for name in people.names:
        reasons = {output.record["reason"] for output in ends(read)[name]}
        expect("released" in reasons and reasons <= {"released", "duplicate"}, f"{name} ended as {reasons}")

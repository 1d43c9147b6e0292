"""What went wrong elsewhere in the life of a held message (C056 to C066) and on Kafka (C130, C133), played again."""

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.hold_trial import DEFERRED, SETTINGS, ms_of, now_ms
from harness.ledger import random_moment
from harness.made_zones import NIGHT, MadeZones, whole_second_in
from harness.records import candidate, choice, device, document, encode
from harness.verify import check_ended_cleanly


class Night:
    """A zone of the test's own, in which everybody sleeps until `end_ms`."""

    def __init__(self, world, lead_seconds):
        end = whole_second_in(lead_seconds)
        zones = MadeZones(world.directory)
        self.world, self.environment, self.end_ms = world, zones.environment, end * 1000
        self.zone = zones.night_until("Made/Night", end)
        world.create_topics(partitions=3, config={"deferred": DEFERRED})
        self.reader = world.reader()

    def user(self, user_id, **members):
        self.world.prefer(document(user_id, devices=[device(timezone=self.zone, quiet_hours=NIGHT, **members)]))

    def gate(self, name="gate-0", **settings):
        made = {**SETTINGS, "release__spread_seconds": 0, **settings}
        return self.world.gate(name, environment=self.environment, **made)

    def hold(self, notification_id, user_id="u-1", **members):
        """Sends one that will be held."""
        self.world.send(candidate(notification_id, user_id, "transactional", **members))

    def ends(self):
        """notification_id -> the record by which it ended."""
        found = {}
        for output in self.reader.read:
            if output.topic == "deferred":
                continue
            record = output.record
            expect(record["notification_id"] not in found, f"{record['notification_id']} ended twice")
            found[record["notification_id"]] = record
        return found

    def await_ends(self, count, seconds):
        self.reader.until(f"{count} have ended", lambda _: len(self.ends()) >= count, seconds)
        return self.ends()

    def check_none_is_held(self):
        """A null value for each hold."""
        self.reader.to_end()
        held = [output for output in self.reader.read if output.topic == "deferred" and output.value is not None]
        nulls = [output.key for output in self.reader.read if output.topic == "deferred" and output.value is None]
        expect_equal(sorted(nulls), sorted({output.key for output in held}), "the holds that were ended")


@case(EXACT, timed=True)
def released_in_silence(world):
    """C057: one candidate is held, then nothing comes on any topic: it leaves within a second of the window's end."""
    night = Night(world, 15)
    night.user("u-1")
    gate = night.gate()
    gate.await_ready()
    night.hold("n-1")
    world.flush()
    night.reader.until("it is held", lambda read: [output for output in read if output.topic == "deferred"], 20)
    record = night.await_ends(1, 30)["n-1"]
    seen_ms, decided_ms = now_ms(), ms_of(record["decided_at"])
    expect_equal((record["outcome"], record["reason"]), ("approved", "released"), "what became of it")
    expect(night.end_ms <= decided_ms <= night.end_ms + 1000, f"{decided_ms - night.end_ms} ms behind the end")
    expect(seen_ms <= night.end_ms + 2000, f"seen {seen_ms - night.end_ms} ms behind the end")
    gate.drain()
    night.check_none_is_held()


@case(EXACT, timed=True)
def overdue_after_a_stop(world):
    """C058, C059, C065: the gate is down over the window's end; then all leave at once, but for what expired meanwhile."""
    night = Night(world, 18)
    night.user("u-1")
    gate = night.gate()
    gate.await_ready()
    end_ms = night.end_ms
    early = {"at the end": end_ms, "before it": end_ms - 1}
    for name, expires in {**early, "behind it": end_ms + 1, "soon": end_ms + 1500, "later": end_ms + 600_000}.items():
        night.hold(name, expires_at=expires)
    night.hold("never")
    world.flush()
    world.await_decided(25)
    expect(now_ms() < end_ms, "the window ended before all were held: the machine is too slow for this")
    gate.drain()
    for name in early:
        record = night.await_ends(2, 20)[name]
        expect_equal((record["reason"], record.get("held")), ("expires_in_quiet_hours", None), f"what expires {name}")
    until("the window and one expiry are over", lambda: now_ms() > end_ms + 3000, 40)
    started_ms = now_ms()
    gate = night.gate("gate-0/again")
    ends = night.await_ends(6, 40)
    for name, reason in {"behind it": "expired", "soon": "expired", "later": "released", "never": "released"}.items():
        record = ends[name]
        expect_equal((record["reason"], ms_of(record["held"]["deliver_after"])), (reason, end_ms), f"{name}, overdue")
        expect(ms_of(record["decided_at"]) >= started_ms, f"{name} was decided by a gate that was not there")
    times = sorted(ms_of(ends[name]["decided_at"]) for name in ("behind it", "soon", "later", "never"))
    expect(times[-1] - times[0] <= 1000, f"what is overdue took {times[-1] - times[0]} ms to leave")
    gate.drain()
    night.check_none_is_held()


@case(EXACT)
def expiry_is_half_open_at_the_release(world):
    """C059: of holds that expire within milliseconds of their release, each is released before the instant, dropped from it on."""
    night = Night(world, 15)
    night.user("u-1")
    gate = night.gate()
    gate.await_ready()
    for number in range(200):
        night.hold(f"n-{number}", expires_at=night.end_ms + 1 + number)
    world.flush()
    ends = night.await_ends(200, 40)
    for number in range(200):
        record, expires = ends[f"n-{number}"], night.end_ms + 1 + number
        decided_ms = ms_of(record["decided_at"])
        expect(decided_ms >= night.end_ms, f"n-{number} left early")
        wanted = "released" if decided_ms < expires else "expired"
        expect_equal(record["reason"], wanted, f"n-{number}, decided at {decided_ms}, which expires at {expires}")
    gate.drain()
    night.check_none_is_held()


@case(EXACT, timed=True)
def producers_clocks_do_not_decide(world):
    """C066: record timestamps of 1970 and of five minutes ahead change nothing: each leaves at the window's end."""
    night = Night(world, 15)
    night.user("u-1")
    gate = night.gate()
    gate.await_ready()
    for name, stamp in {"epoch": 1, "ahead": now_ms() + 300_000, "behind": now_ms() - 300_000}.items():
        value = encode(candidate(name, "u-1", "transactional"))
        world.producer.produce(world.topics["candidate"], value, b"u-1", timestamp=stamp)
    world.flush()
    for name, record in night.await_ends(3, 40).items():
        expect_equal(record["reason"], "released", f"what became of {name}")
        late = ms_of(record["decided_at"]) - night.end_ms
        expect(0 <= late <= 1000, f"{name} left {late} ms behind the end")
    gate.drain()
    night.check_none_is_held()


def killed_while_releasing(world, kills):
    night = Night(world, 18)
    for number in range(20):
        night.user(f"u-{number}")
    # So slow that there is something left to release for every kill.
    pace = {"release__apns_per_second": 1000 // (4 * kills)}
    gate = night.gate("gate-0/0", **pace)
    gate.await_ready()
    for number in range(1000):
        night.hold(f"n-{number}", f"u-{number % 20}")
    world.flush()
    world.await_decided(25)
    for turn in range(kills):
        mark = len(night.ends())
        night.reader.until("it releases", lambda read, m=mark: len(night.ends()) > m, 90)
        random_moment(world, 1500)
        expect_equal(gate.kill(), -9, "the exit code of what was killed")
        gate = night.gate(f"gate-0/{turn + 1}", **pace)
        night.reader.step(0.1)
    expect(len(night.ends()) < 1000, "all were released before the last kill")
    ends = night.await_ends(1000, 120)
    expect_equal({record["reason"] for record in ends.values()}, {"released"}, "reasons")
    expect(min(ms_of(record["decided_at"]) for record in ends.values()) >= night.end_ms, "one left early")
    gate.drain()
    night.check_none_is_held()
    check_ended_cleanly(world)


@case(EXACT)
def killed_3_times_while_releasing(world):
    """C056: 1,000 holds due at one instant, kill -9 three times while they leave: each leaves once, its hold nulled with it."""
    killed_while_releasing(world, 3)


@case(EXACT, long=True)
def killed_10_times_while_releasing(world):
    """C056: 1,000 holds due at one instant, kill -9 ten times while they leave: each leaves once, its hold nulled with it."""
    killed_while_releasing(world, 10)


@case(EXACT)
def repeated_while_held_and_after(world):
    """C133: an id that is held comes again, with the same content and another, before and after its release and a restart:
    one release, every other a duplicate."""
    night = Night(world, 15)
    night.user("u-1")
    gate = night.gate()
    gate.await_ready()
    for payload in ({"n": 1}, {"n": 1}, {"n": 2}):
        night.hold("n-1", payload=payload)
    world.flush()
    night.reader.until("it is released", lambda read: "released" in reasons(read), 60)
    night.hold("n-1", payload={"n": 1})
    world.flush()
    night.reader.until("the third is a duplicate", lambda read: reasons(read).count("duplicate") == 3)
    gate.drain()
    again = night.gate("gate-0/again")
    again.await_ready()
    night.hold("n-1", payload={"n": 3})
    world.flush()
    night.reader.until("the fourth is a duplicate", lambda read: reasons(read).count("duplicate") == 4)
    again.drain()
    night.reader.to_end()
    wanted = ["duplicate"] * 4 + ["quiet_hours_deferred", "released"]
    expect_equal(sorted(reasons(night.reader.read)), wanted, "what became of all")
    released = next(output.record for output in night.reader.read if output.topic == "approved")
    expect_equal(released["notification"]["payload"], {"n": 1}, "the content that was released")


def reasons(outputs):
    return [output.record["reason"] for output in outputs if output.value is not None]


@case(EXACT)
def erased_stays_erased_once_compacted(world):
    """C130: on, off, null value; compacted until nothing of the user is left; a restarted gate knows no such user."""
    quick = {"cleanup.policy": "compact", "segment.ms": 200, "min.cleanable.dirty.ratio": 0.01, "delete.retention.ms": 0}
    world.create_topics(partitions=1, security=1, config={"preferences.state": quick})
    gate = world.gate()
    reader = world.reader()
    world.prefer(document("u-1", 1, categories={"marketing": choice("user-on")}))
    world.prefer(document("u-1", 2, categories={"marketing": choice("user-off")}))
    gate.await_ready()
    world.prefer(None, "u-1")

    def left():
        # What follows rolls the segments that the cleaner may take.
        world.prefer(document("filler"))
        outputs = world.reader(["preferences.state"]).to_end()
        return [output for output in outputs if output.key == b"u-1"]

    until("nothing of the user is left on the topic", lambda: not left(), 120, every=0.5)
    gate.drain()
    again = world.gate("gate-0/again")
    (output,) = world.decide(reader, candidate("n-1", "u-1", "marketing"))
    expect_equal((output.topic, output.record["reason"]), ("dropped", "unknown_user"), "what became of it")
    again.drain()

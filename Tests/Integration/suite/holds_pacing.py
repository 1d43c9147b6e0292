"""A burst of holds due at one instant leaves at each provider's rate, and loses nothing (requirements F5, X7)."""

import array
import collections
import re

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import CheckFailed, expect, expect_equal, let_pass, until
from harness.hold_trial import DEFERRED, PARTITIONS, SETTINGS, ms_of, now_ms
from harness.made_zones import NIGHT, MadeZones, whole_second_in
from harness.reading import Reader
from harness.records import candidate, device, document, encode

NOTIFICATIONS_OF_A_USER = 10
HEAD = re.compile(rb'"reason":"(\w+)".{0,200}?"notification_id":"n(\d+)".{0,400}?"decided_at":"([^"]+)"', re.S)
EXPIRING_OF = 20
# What is paced by one clock is written by another; each is cut to the millisecond.
CUT_MS = 2
GONE = {"released": 0, "expired": 1}


class BurstReader(Reader):
    """When each notification ended, and as what; and the holds that are not nulled."""

    def prepare(self, count):
        self.decided = array.array("q", bytes(8 * count))
        self.reason = bytearray(count)
        self.ended = self.held = self.nulled = 0

    def keep(self, message):
        topic, value = self.names[message.topic()], message.value()
        if topic == "deferred":
            self.held += value is not None
            self.nulled += value is None
            return
        match = HEAD.search(value, 0, 1200)
        if match is None:
            raise CheckFailed(f"not to be read: {value[:600]!r}")
        reason, number = match.group(1).decode(), int(match.group(2))
        if reason not in GONE:
            raise CheckFailed(f"n{number} ended as {reason}")
        if self.decided[number]:
            raise CheckFailed(f"n{number} ended twice")
        self.decided[number] = ms_of(match.group(3).decode())
        self.reason[number] = GONE[reason]
        self.ended += 1


def write_burst(world, zone, count, expires_ms):
    """Documents and candidates."""
    for user in range(count // NOTIFICATIONS_OF_A_USER):
        platform = platform_of(user)
        made = document(f"u{user}", devices=[device(platform=platform, timezone=zone, quiet_hours=NIGHT)])
        world.prefer(made, flush=False)
    world.flush()
    topic, producer = world.topics["candidate"], world.new_producer(**{"queue.buffering.max.messages": 500_000})
    for number in range(count):
        user_id = f"u{number // NOTIFICATIONS_OF_A_USER}"
        made = candidate(f"n{number}", user_id, "transactional")
        if number % EXPIRING_OF == 0:
            made["expires_at"] = expires_ms
        while True:
            try:
                producer.produce(topic, encode(made), user_id.encode())
                break
            except BufferError:
                producer.poll(0.05)
    expect_equal(producer.flush(120), 0, "candidates not acknowledged")


def platform_of(user):
    return "android" if user % 5 < 2 else "ios"


def burst(world, count, rates, lead_seconds, kill_after):
    """`rates`: per second, by platform. One of two gates is killed while the burst leaves."""
    zones = MadeZones(world.directory)
    end = whole_second_in(lead_seconds)
    zone, due_ms = zones.night_until("Made/Night", end), end * 1000
    world.create_topics(partitions=PARTITIONS, config={"deferred": DEFERRED})
    settings = {
        **SETTINGS,
        "release__spread_seconds": 0,
        "release__apns_per_second": rates["ios"],
        "release__fcm_per_second": rates["android"],
    }
    gates = [world.gate(f"gate-{number}", environment=zones.environment, **settings) for number in range(2)]
    for gate in gates:
        gate.await_ready()
    reader = BurstReader(world.broker.bootstrap, {name: world.topics[name] for name in ("approved", "deferred", "dropped")})
    world.readers.append(reader)
    reader.prepare(count)
    seconds_due = max(count * share / rates[name] for name, share in (("ios", 0.6), ("android", 0.4)))
    expires_ms = due_ms + int(seconds_due * 500)
    write_burst(world, zone, count, expires_ms)
    world.await_decided(lead_seconds)
    expect(now_ms() < due_ms, "the candidates were not all held before they were due: the machine is too slow for this")
    while now_ms() < due_ms + kill_after * 1000:
        reader.step(0.1)
    expect_equal(gates[1].kill(), -9, "the exit code of what was killed")
    gates[1] = world.gate("gate-1/again", environment=zones.environment, **settings)

    def complete():
        reader.step(0.2)
        return reader.ended >= count

    until(f"all {count} have left or expired", complete, seconds_due * 1.3 + 90, every=0)
    until("all holds are nulled", lambda: reader.step(0.2) or reader.nulled == count, 30)
    let_pass(0.5)
    reader.to_end()
    expect_equal((reader.ended, reader.held, reader.nulled), (count, count, count), "ended, held and nulled")
    for gate in gates:
        gate.drain()
    check_burst(reader, count, rates, due_ms, expires_ms)


def check_burst(reader, count, rates, due_ms, expires_ms):
    of_platform = collections.defaultdict(list)
    for number in range(count):
        at, has_expired = reader.decided[number], reader.reason[number] == GONE["expired"]
        expect(at >= due_ms, f"n{number} ended {due_ms - at} ms early")
        if has_expired:
            expect(number % EXPIRING_OF == 0 and at >= expires_ms, f"n{number} expired before its time")
        else:
            expect(number % EXPIRING_OF != 0 or at < expires_ms, f"n{number} was released after it had expired")
            of_platform[platform_of(number // NOTIFICATIONS_OF_A_USER)].append(at)
    for platform, instants in of_platform.items():
        instants.sort()
        rate = rates[platform]
        # In every stretch of a second, however it begins.
        for first in range(len(instants) - rate):
            span = instants[first + rate] - instants[first]
            expect(span >= 1000 - CUT_MS, f"{platform}: {rate + 1} left within {span} ms from {instants[first]} on, {rate} may")
        seconds = (instants[-1] - due_ms) / 1000
        expect(seconds < len(instants) / rate * 1.4 + 20, f"{platform}: {len(instants)} took {seconds:.0f} s at {rate}/s")


@case(EXACT, timed=True)
def burst_keeps_to_the_bucket(world):
    """40,000 holds due at one instant, a gate killed meanwhile: no second sees more than each provider's rate, none is lost."""
    burst(world, 40_000, {"ios": 2000, "android": 1500}, lead_seconds=40, kill_after=3)


@case(EXACT, long=True, timed=True)
def a_million_keeps_to_the_bucket(world):
    """A million holds due at one instant, a gate killed meanwhile: no second sees more than each provider's rate, none is lost."""
    burst(world, 1_000_000, {"ios": 20_000, "android": 15_000}, lead_seconds=120, kill_after=8)

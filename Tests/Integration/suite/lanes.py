"""The security lane beside a marketing backlog, and what stale preferences do to each lane."""

import json
import os
import time

from harness.brokers import INJECTS
from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.records import candidate, choice, device, document, encode
from harness.verify import BUILT_IN_POLICY
from harness.world import outputs_of

BACKLOG = 500_000
EVENTS = 300


class Latencies:
    """Sends security events one after another and times each from produce to its being readable, committed."""

    def __init__(self, world):
        self.world = world
        self.producer = world.new_producer(**{"linger.ms": 0})
        self.reader = world.reader(["approved"], **{"fetch.wait.max.ms": 10})
        self.number = 0

    def skip_to_end(self):
        """From here on only what is new is read: the backlog's approvals are not this reader's work."""
        for partition in self.reader.partitions:
            partition.offset = self.reader.consumer.get_watermark_offsets(partition, timeout=20)[1]
        self.reader.consumer.assign(self.reader.partitions)

    def one(self):
        self.number += 1
        name = f"s-{self.number}"
        made = candidate(name, "u-1", "security", event="2fa_code", critical=True)
        began = time.monotonic()
        self.world.write("candidate.security", b"u-1", encode(made), producer=self.producer)
        self.producer.poll(0)
        wanted = name.encode()
        while time.monotonic() - began < 30:
            self.reader.read.clear()
            self.reader.step(0.002, 500)
            if any(output.header("notification_id") == wanted for output in self.reader.read):
                return time.monotonic() - began
        raise AssertionError(f"{name} took more than 30 s")


def p99(seconds):
    return sorted(seconds)[int(len(seconds) * 0.99)]


def told(seconds):
    inner = sorted(1000 * each for each in seconds)
    at = [inner[int(len(inner) * share)] for share in (0.5, 0.9, 0.99)]
    return f"p50 {at[0]:.1f}, p90 {at[1]:.1f}, p99 {at[2]:.1f}, most {inner[-1]:.1f} ms of {len(inner)}"


@case(long=True, timed=True)
def security_under_a_marketing_backlog(world):
    """K3: with 500,000 marketing candidates before it the security lane's p99 stays within 3 times that of an idle gate."""
    world.create_topics(partitions=8, security=4)
    opted_in = {"marketing": choice("user-on")}
    # The watcher reads the partition of u-1, so the backlog's approvals go elsewhere: they are dropped.
    for number in range(2000):
        world.prefer(document(f"m-{number}", categories={"marketing": choice("user-off")}), flush=False)
    world.prefer(document("u-1", devices=[device(categories=opted_in)]))
    # Frozen for longer than a transaction may last it would rightly come back fenced.
    world.write_config(world.broker.bootstrap, **{"transaction.timeout.ms": 50_000})
    gate = world.gate()
    gate.await_ready()
    watch = Latencies(world)
    for _ in range(20):
        watch.one()  # connections and caches
    idle = [watch.one() for _ in range(EVENTS)]
    payload = {"title": "x" * 250}
    for number in range(BACKLOG):
        user_id = f"m-{number % 2000}"
        made = candidate(f"n-{number}", user_id, "marketing", event="promotion", payload=payload)
        world.write("candidate", user_id.encode(), encode(made))
        world.producer.poll(0)
        # The gate follows as it is written; frozen, it leaves a backlog behind.
        if number == 1000:
            gate.stop()
    world.flush(120)
    before = world.progress()
    gate.proceed()
    until("the backlog is being worked on", lambda: world.progress() > before, 60, every=0.005)
    busy = []
    while world.progress() < BACKLOG and len(busy) < EVENTS:
        busy.append(watch.one())
    left = BACKLOG - world.progress()
    expect(len(busy) >= 20, f"the backlog was gone after {len(busy)} events")
    world.await_decided(120)
    gate.drain()
    ratio = p99(busy) / p99(idle)
    print(
        f"\n   idle {told(idle)}\n   under the backlog {told(busy)}\n   {left} left at the last; p99 {ratio:.2f} times",
        flush=True,
    )
    expect(ratio <= 3, f"{ratio:.2f} times the idle p99")


@case(timed=True)
def security_moves_on_soon_after_a_death(world):
    """With its owner killed, and nobody to take that instance's place, another has decided long before 45 s are over."""
    world.create_topics(partitions=4, security=1)
    world.prefer(document("u-1"))
    first = world.gate("gate-0")
    first.await_ready()
    reader = world.reader()
    world.decide(reader, candidate("s-0", "u-1", "security", event="2fa_code"), security=True)
    second = world.gate("gate-1")
    second.await_ready()
    first.kill()
    world.send(candidate("s-1", "u-1", "security", event="2fa_code"), security=True)
    reader.until("the code is approved", lambda read: outputs_of(read, "s-1"), 30)
    second.drain()


@case(INJECTS)
def stale_preferences_pause_the_ordinary_lane(world):
    """Preferences behind past the policy's limit: ordinary candidates wait, security goes on, /readyz says so; then on."""
    with open(BUILT_IN_POLICY, encoding="utf-8") as file:
        policy = json.load(file)
    policy["preferences_stale_seconds_max"]["ordinary"] = 5
    path = os.path.join(world.directory, "policy.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy, file)
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap, **{"policy.file": path})
    world.create_topics()
    world.prefer(document("u-1", 1))
    gate = world.gate()
    reader = world.reader()
    world.decide(reader, candidate("n-0", "u-1"))
    # Nothing of the preferences can be read any more, while all else can; what is written from then on is missed.
    broker.inject(f"Fetch topic={world.topics['preferences.state']} error 6\n")
    world.prefer(document("u-2"))

    def behind():
        world.prefer(document("u-2"))
        status, body = gate.get("/readyz")
        return status == 503 and "behind" in body and "paused" in body

    until("/readyz says that the preferences are behind and the lane paused", behind, 60, every=0.1)
    world.prefer(document("u-1", 2, categories={"social": choice("user-off")}))
    world.send(candidate("n-1", "u-1"))
    alert = candidate("s-1", "u-1", "security", event="login_alert")
    (output,) = world.decide(reader, alert, security=True)
    expect_equal(output.record["reason"], "ok", "a login alert while the preferences are behind")
    expect_equal(outputs_of(reader.to_end(), "n-1"), [], "ordinary decisions while the preferences are behind")
    broker.inject("")
    reader.until("the ordinary lane goes on", lambda read: outputs_of(read, "n-1"), 90)
    (output,) = outputs_of(reader.read, "n-1")
    expect_equal(output.record["reason"], "account_opted_out", "the reason, by the document written meanwhile")
    until("/readyz says 200 again", lambda: gate.get("/readyz")[0] == 200, 30)
    gate.drain()

"""Frequency caps: never one more than a cap in any window, never one less than allowed (requirements F1, X8, T2)."""

import json
import sys
import threading
import time
import zlib

from confluent_kafka import ConsumerGroupTopicPartitions

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, let_pass, until, until_equal
from harness.ledger import random_moment
from harness.murmur2 import partition_of
from harness.records import candidate, device, document, encode, place_between
from harness.verify import BUILT_IN_POLICY, ROOT
from harness.world import Background, outputs_of

sys.path.insert(0, str(ROOT / "Tests/oracle"))
import instants  # noqa: E402
from caps import Cap, judge  # noqa: E402

SHORT_SESSION = {"kafka__session__timeout__ms": 6000, "drain__timeout__ms": 5000}
USERS = 24
ZONES = ["America/Los_Angeles", "Pacific/Apia", "Asia/Kolkata", "Europe/Berlin"]
WINDOW_S = 6


def policy_with(world, **caps):
    with open(BUILT_IN_POLICY, encoding="utf-8") as file:
        policy = json.load(file)
    for category, made in caps.items():
        policy["categories"][category]["caps"] = made
    path = f"{world.directory}/policy.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy, file)
    return path


def receipt(notification_id, device_id, user_id, status):
    return {
        "notification_id": notification_id,
        "device_id": device_id,
        "user_id": user_id,
        "provider": "apns",
        "status": status,
        "code": None if status == "accepted" else "BadDeviceToken",
        "at": int(time.time() * 1000),
    }


def receipts_read(world):
    """Whether the gate has committed every receipt there is."""
    group = world.group
    answer = world.admin().list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], require_stable=False)
    places = answer[group].result(20).topic_partitions
    committed = {place.partition: place.offset for place in places if place.topic == world.topics["receipts"]}
    return all(committed.get(number, -1) >= end for number, end in world.ends("receipts").items() if end > 0)


def reasons(outputs):
    return [output.record["reason"] for output in outputs]


@case()
def caps_and_refunds(world):
    """A cap of each style across a clean restart; rejected on every device is refunded once; what is no receipt stops nothing."""
    daily = {"name": "daily", "count": 2, "style": "calendar_day"}
    hourly = {"name": "hourly", "count": 2, "style": "sliding", "window_seconds": 3600}
    path = policy_with(world, social=[hourly], transactional=[daily])
    world.create_topics()
    world.prefer(document("u-1", devices=[device("d-1"), device("d-2")], timezone=place_between(60, 1380)))
    gate = world.gate(policy__file=path, **SHORT_SESSION)
    reader = world.reader()
    for number in range(3):
        found = world.decide(reader, candidate(f"n-{number}", "u-1"), 2)
        expect_equal(reasons(found), ["ok" if number < 2 else "frequency_capped"] * 2, f"social {number}")
    first = instants.from_text(outputs_of(reader.read, "n-0")[0].record["decided_at"])
    cap = found[0].record["cap"]
    expect_equal(cap["name"], "hourly", "the cap named")
    expect_equal(instants.from_text(cap["frees_at"]), first + 3_600_000, "when it frees up")
    for number in range(3):
        found = world.decide(reader, candidate(f"t-{number}", "u-1", "transactional"), 2)
    expect_equal([output.record["cap"]["name"] for output in found], ["daily"] * 2, "the day is used up")
    gate.drain()
    gate = world.gate("gate-0/again", policy__file=path, **SHORT_SESSION)
    found = world.decide(reader, candidate("n-3", "u-1"), 2)
    expect_equal(reasons(found), ["frequency_capped"] * 2, "after a restart")

    def answer(*answers):
        for made in answers:
            world.write("receipts", b"u-1", encode(made))
        world.flush()
        until("the receipts are read", lambda: receipts_read(world), 60)

    world.write("receipts", b"u-1", b"?")
    world.write("receipts", None, None, partition=0)
    world.write("receipts", b"u-2", encode(receipt("n-0", "d-1", "u-1", "rejected")))
    answer(receipt("n-0", "d-1", "u-1", "rejected"), receipt("n-1", "d-2", "u-1", "accepted"))
    found = world.decide(reader, candidate("n-4", "u-1"), 2)
    expect_equal(reasons(found), ["frequency_capped"] * 2, "rejected on one of two devices")
    gate.kill()
    gate = world.gate("gate-0/killed", policy__file=path, **SHORT_SESSION)
    answer(receipt("n-0", "d-2", "u-1", "rejected"), receipt("n-1", "d-1", "u-1", "rejected"))
    found = world.decide(reader, candidate("n-5", "u-1"), 2, seconds=60)
    expect_equal(reasons(found), ["ok"] * 2, "rejected on both: refunded")
    answer(receipt("n-0", "d-1", "u-1", "rejected"), receipt("n-0", "d-2", "u-1", "rejected"))
    found = world.decide(reader, candidate("n-6", "u-1"), 2)
    expect_equal(reasons(found), ["frequency_capped"] * 2, "refunded once")
    until_equal(lambda: gate.value("sendgate_caps_refunded_total", lane="ordinary-0"), 1, "refunds")
    gate.drain()
    state = {output.key: output for output in world.reader(["state"]).to_end()}
    counted = state[b"u-1\0c\0social\0n-0"]
    expect_equal((counted.partition, counted.record["state"]), (partition_of(b"u-1", 4), "refunded"), "what is on the state topic")
    expect_equal(state[b"u-1\0c\0social\0n-1"].record["state"], "accepted", "settled")


class Traffic:
    """Issues candidates and answers approvals with receipts, some of them rejections."""

    def __init__(self, world):
        self.world, self.number = world, 0
        # notification -> user, category; and when the last rejection of a notification was written.
        self.issued, self.refunded_from = {}, {}
        self.lock = threading.Lock()
        for user in range(USERS):
            made = document(self.user(user), devices=[device("d-0"), device("d-1")], timezone=ZONES[user % len(ZONES)])
            world.prefer(made, flush=False)
        world.flush()

    @staticmethod
    def user(number):
        return f"u-{number % USERS}"

    @staticmethod
    def is_rejected(notification_id):
        return zlib.crc32(notification_id.encode()) % 3 == 0

    def issue(self, stopping):
        """Some for each user, now and then, until told to stop."""
        producer = self.world.new_producer()
        while not stopping.is_set():
            for user in range(USERS):
                category = "transactional" if self.number % 11 == 0 else "social"
                made = candidate(f"n-{self.number}", self.user(user), category)
                self.issued[made["notification_id"]] = (made["user_id"], category)
                producer.produce(self.world.topics["candidate"], encode(made), made["user_id"].encode())
                self.number += 1
            producer.flush(30)
            stopping.wait(0.35)

    def dispatch(self, stopping):
        reader = self.world.reader(["approved"])
        producer, done = self.world.new_producer(), 0
        while not stopping.is_set():
            reader.step(0.05)
            for output in reader.read[done:]:
                record = output.record
                status = "rejected" if self.is_rejected(record["notification_id"]) else "accepted"
                with self.lock:
                    self.refunded_from.setdefault(record["notification_id"], int(time.time() * 1000))
                made = receipt(record["notification_id"], record["device_id"], record["user_id"], status)
                producer.produce(self.world.topics["receipts"], encode(made), record["user_id"].encode())
            done = len(reader.read)
            producer.flush(30)

    def histories(self, outputs, settled):
        """(user, category) -> what became of each notification, in the order of the candidates."""
        by_id = {}
        for output in outputs:
            by_id.setdefault(output.record["notification_id"], []).append(output)
        expect_equal(set(by_id), set(self.issued), "notifications decided")
        histories = {}
        for name in sorted(by_id, key=lambda name: int(name[2:])):
            records = [output.record for output in by_id[name]]
            expect_equal([record["device_id"] for record in records], ["d-0", "d-1"], f"devices of {name}")
            expect(len({record["reason"] for record in records}) == 1, f"{name} came to different ends: {records}")
            record = records[0]
            expect(record["reason"] in ("ok", "frequency_capped"), f"{name} ended as {record['reason']}")
            approved, cap = record["reason"] == "ok", record.get("cap") or {}
            refunded = None
            if approved and self.is_rejected(name) and name in self.refunded_from:
                refunded = (self.refunded_from[name], settled)
            histories.setdefault(self.issued[name], []).append(
                (
                    instants.from_text(record["decided_at"]),
                    approved,
                    refunded,
                    cap.get("name"),
                    instants.from_text(cap["frees_at"]) if cap else None,
                )
            )
        return histories


@case(EXACT)
def caps_under_fault(world):
    """Candidates and rejections while the gate is killed with -9 three times and partitions move: an oracle finds no count off by one."""
    caps = {
        "social": [Cap("burst", 3, WINDOW_S * 1000), Cap("slow", 10, 4 * WINDOW_S * 1000)],
        "transactional": [Cap("daily", 4)],
    }
    path = policy_with(
        world,
        social=[
            {"name": "burst", "count": 3, "style": "sliding", "window_seconds": WINDOW_S},
            {"name": "slow", "count": 10, "style": "sliding", "window_seconds": 4 * WINDOW_S},
            # Allows more than the others ever let through: it bounds what is kept of a user.
            {"name": "most", "count": 1000, "style": "calendar_day"},
        ],
        transactional=[{"name": "daily", "count": 4, "style": "calendar_day"}],
    )
    world.create_topics(partitions=4)
    traffic = Traffic(world)
    settings = {"policy__file": path, **SHORT_SESSION}
    gate = world.gate("gate-0/0", **settings).await_ready()
    issuing, dispatching = Background(traffic.issue), Background(traffic.dispatch)
    for turn in range(3):
        before = world.progress()
        until("it is amid them", lambda: world.progress() > before + 120, 60)
        random_moment(world, 300)
        gate.kill()
        gate = world.gate(f"gate-0/{turn + 1}", **settings)
    other = world.gate("gate-1", **settings)
    other.wait_for_output("Restored", 60)
    let_pass(WINDOW_S / 2)
    other.kill()
    let_pass(WINDOW_S)
    issuing.stop()
    world.await_decided(90)
    reader = world.reader(["approved", "dropped"])
    until("every approval is answered", lambda: len(reader.to_end()) and _are_answered(traffic, reader), 30)
    dispatching.stop()
    until("the receipts are read", lambda: receipts_read(world), 30)
    # What is left of the caps now is known exactly: the social windows pass, the day does not.
    settled = int(time.time() * 1000)
    let_pass(WINDOW_S)
    for user in range(USERS):
        for category in ("social", "transactional"):
            for _ in range(5):
                made = candidate(f"n-{traffic.number}", traffic.user(user), category)
                traffic.issued[made["notification_id"]] = (made["user_id"], category)
                world.send(made)
                traffic.number += 1
    world.flush()
    world.await_decided(60)
    gate.drain()
    # When a refund took place within the run is not seen from outside; that it had by now is.
    histories = traffic.histories(reader.to_end(), settled)
    approved = refunded = dropped = 0
    for (user, category), history in histories.items():
        zone = ZONES[int(user[2:]) % len(ZONES)]
        problems = judge(history, [cap.in_zone(zone) for cap in caps[category]])
        expect(not problems, f"{user} {category}: {problems[:5]}")
        approved += sum(entry[1] for entry in history)
        dropped += sum(not entry[1] for entry in history)
        refunded += sum(entry[2] is not None for entry in history)
    expect(min(approved, dropped) > 300 and refunded > 100, f"{approved} approved, {dropped} dropped, {refunded} refunded")


def _are_answered(traffic, reader):
    names = {output.record["notification_id"] for output in reader.read if output.topic == "approved"}
    with traffic.lock:
        return names <= set(traffic.refunded_from)

"""The stub dispatcher: each approval answered once, in the provider's words, whatever dies on the way."""

import collections
import json
import os
import time
from datetime import datetime, timezone

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, let_pass, until
from harness.ledger import Ledger, random_moment, write_documents
from harness.processes import Process
from harness.records import encode
from harness.verify import validators
from harness.world import Background

CODES = {
    "apns": {"Unregistered", "TopicDisallowed", "TooManyRequests"},
    "fcm": {"UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED"},
}


class Dispatcher(Process):
    """A running `sendgate dispatch --stub`; its calls go to a file that all of a test's share."""

    def __init__(self, world, name, *flags, **settings):
        command = [world.sendgate, "dispatch", "--stub", "--config", world.config_path]
        made = {"instance.id": name.split("/")[0], **{key.replace("__", "."): value for key, value in settings.items()}}
        for key, value in made.items():
            command += ["--set", f"{key}={value}"]
        command += ["--calls", calls_path(world), *flags]
        super().__init__(name.replace("/", "-"), command, world.directory)
        world.processes.append(self)

    def summary(self):
        """Its last line on standard output."""
        with open(self.out_path, encoding="utf-8") as file:
            return json.loads(file.read().splitlines()[-1])


def calls_path(world):
    return os.path.join(world.directory, "calls.jsonl")


def read_calls(world, torn_max=0):
    """The calls on record. A process that was killed while it wrote may leave part of a line."""
    calls, torn = [], 0
    with open(calls_path(world), "rb") as file:
        for line in file.read().splitlines():
            try:
                calls.append(json.loads(line))
            except ValueError:
                torn += 1
    expect(torn <= torn_max, f"{torn} lines of the calls cannot be read, {torn_max} may be torn")
    return calls


def identity(record):
    return record["user_id"], record["notification_id"], record.get("device_id")


def instant(seconds_from_now):
    at = datetime.fromtimestamp(time.time() + seconds_from_now, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def approval(notification_id, user_id="u-1", device_id="d-1", **members):
    """What of an approval a dispatcher looks at, and something it does not know."""
    made = {
        "outcome": "approved",
        "reason": "ok",
        "notification_id": notification_id,
        "user_id": user_id,
        "device_id": device_id,
        "platform": "ios",
        "interruption": "active",
        "critical": False,
        "expires_at": None,
        "send_before": None,
        "collapse_key": None,
        "unsubscribe_url": None,
        "sms_fallback": "forbidden",
        "notification": {"notification_id": "not-this-one", "payload": {"a": [1, {"user_id": 2}], "a ": None}},
    }
    return {**made, **members}


def approve(world, made, producer=None):
    value = made if isinstance(made, bytes) else encode(made)
    key = b"u-1" if isinstance(made, bytes) else made["user_id"].encode()
    world.write("approved", key, value, producer=producer)


def dispatch_all(world, name, *flags, **settings):
    """Runs a dispatcher until nothing comes any more; what it says of itself."""
    world.flush()
    process = Dispatcher(world, name, "--until-idle", "1", *flags, **settings)
    expect_equal(process.wait(60), 0, f"the exit code of the dispatcher:\n{process.describe()}")
    return process.summary()


def read_receipts(world):
    """Every receipt, each checked by its schema and found at its approval's partition."""
    outputs = world.reader(["receipts"]).to_end()
    for output in outputs:
        errors = sorted(validators()["receipt"].iter_errors(output.record), key=str)
        expect(not errors, f"not by its schema: {errors and errors[0].message} in {output}")
        expect_equal(output.key, output.record["user_id"].encode(), f"the key of {output}")
    return outputs


@case()
def dispatcher_keeps_its_side(world):
    """Late ones are not sent, a repeated pair once, across a restart too; unreadable ones are counted; receipts by schema."""
    world.create_topics()
    for number in range(20):
        approve(world, approval(f"n-{number}", f"u-{number % 5}"))
        approve(world, approval(f"n-{number}", f"u-{number % 5}", "d-2", platform="android"))
    approve(world, approval("n-3", "u-3"))
    approve(world, approval("late", send_before=instant(-0.001)))
    approve(world, approval("in-time", send_before=instant(3600)))
    for value in (b"", b"null", b"{", b'{"outcome":"approved"}', encode(approval("x", send_before="soon"))):
        approve(world, value)
    told = dispatch_all(world, "dispatch-0", "--accepted", "100", "--observed", "50")
    wanted = {"approvals": 48, "accepted": 41, "unregistered": 0, "rejected": 0, "sms": 0, "late": 1}
    wanted |= {"repeated": 1, "unreadable": 5, "observed": told["observed"]}
    expect_equal(told, wanted, "what the dispatcher says of itself")
    expect(5 < told["observed"] < 36, f"{told['observed']} of 41 were observed where half should be")
    # The second run has only the receipts to remember by.
    approve(world, approval("n-3", "u-3"))
    approve(world, approval("n-4", "u-3"))
    told = dispatch_all(world, "dispatch-0/again", "--accepted", "100", "--observed", "0")
    expect_equal((told["approvals"], told["repeated"], told["accepted"]), (2, 1, 1), "the second run")
    receipts = [output.record for output in read_receipts(world)]
    answered = collections.Counter(identity(receipt) for receipt in receipts if "status" in receipt)
    expect_equal(set(answered.values()), {1}, "receipts of one send")
    expect(("u-1", "late", "d-1") not in answered, "a provider answered for what was not sent")
    expect_equal(len(answered), 42, "sends with a receipt")
    calls = read_calls(world)
    expect_equal({identity(call) for call in calls}, set(answered), "the calls and the receipts")
    expect_equal(len(calls), len(answered), "calls")
    seen = [receipt for receipt in receipts if "event" in receipt]
    expect(all(identity(receipt) in answered for receipt in seen), "somebody saw what was not sent")


@case()
def dispatcher_speaks_the_providers_words(world):
    """interruption, expiry and collapse_key go into APNs' and FCM's own fields; SMS only where allowed; codes are theirs."""
    world.create_topics()
    began = time.monotonic()
    limits = {"expires_at": instant(7200), "send_before": instant(600), "collapse_key": "k"}
    levels = {
        "critical": ("10", "HIGH"),
        "time-sensitive": ("10", "HIGH"),
        "active": ("10", "NORMAL"),
        "passive": ("5", "NORMAL"),
    }
    for level in levels:
        for platform in ("ios", "android"):
            approve(world, approval(f"{level}-{platform}", platform=platform, interruption=level, **limits))
    approve(world, approval("no-limit"))
    approve(world, approval("sms", sms_fallback="allowed", device_id="d-2"))
    approve(world, approval("sms", sms_fallback="allowed", device_id="d-3"))
    told = dispatch_all(world, "dispatch-0", "--rejected", "60", "--unregistered", "40")
    least = 600 - 1 - (time.monotonic() - began)
    expect_equal((told["accepted"], told["sms"], told["observed"]), (0, 2, 0), "accepted, by SMS and observed")
    calls = read_calls(world)
    pushes = {(call["notification_id"], call["device_id"]): call for call in calls if call["provider"] != "sms"}
    until_ms = datetime.fromisoformat(limits["send_before"].replace("Z", "+00:00")).timestamp()
    for level, (priority, urgency) in levels.items():
        apns, fcm = pushes[(f"{level}-ios", "d-1")], pushes[(f"{level}-android", "d-1")]
        expect_equal(apns["provider"], "apns", "the provider of an iPhone")
        headers = {
            "apns-id": apns["id"],
            "apns-push-type": "alert",
            "apns-priority": priority,
            "apns-expiration": str(int(until_ms)),
            "apns-collapse-id": "k",
        }
        expect_equal(apns["headers"], headers, f"APNs' headers of {level}")
        expect_equal(apns["aps"]["interruption-level"], level, "the level")
        expect_equal("sound" in apns["aps"], level == "critical", f"a critical sound of {level}")
        expect_equal(fcm["provider"], "fcm", "the provider of an Android phone")
        expect_equal((fcm["android"]["priority"], fcm["android"]["collapse_key"]), (urgency, "k"), f"FCM's of {level}")
        expect(least <= int(fcm["android"]["ttl"][:-1]) < 600, f"the ttl, of {least:.1f} s at the least: {fcm}")
    unlimited = pushes[("no-limit", "d-1")]
    expect("apns-expiration" not in unlimited["headers"], f"an expiry out of nowhere: {unlimited}")
    texts = [call for call in calls if call["provider"] == "sms"]
    expect_equal({call["notification_id"] for call in texts}, {"sms"}, "who got an SMS")
    expect_equal(len({call["id"] for call in texts}), 1, "ids of one user's SMS")
    for output in read_receipts(world):
        receipt = output.record
        expect(receipt["code"] in CODES[receipt["provider"]], f"no word of {receipt['provider']}'s: {receipt}")


@case(EXACT)
def dispatcher_reads_what_is_committed(world):
    """An approval of a transaction that is aborted is never sent; one of a committed one is."""
    world.create_topics()
    for number, ends_well in enumerate((False, True, False)):
        producer = world.new_producer(**{"transactional.id": f"{world.prefix}-writer"})
        producer.init_transactions(20)
        producer.begin_transaction()
        approve(world, approval(f"n-{number}"), producer=producer)
        producer.flush(20)
        (producer.commit_transaction if ends_well else producer.abort_transaction)(20)
    dispatch_all(world, "dispatch-0")
    expect_equal({call["notification_id"] for call in read_calls(world)}, {"n-1"}, "what was sent")


def killed(world, turns):
    world.create_topics(partitions=6)
    write_documents(world)
    ledger = Ledger(world)
    gate = world.gate("gate-0")
    flags = ("--unregistered", "15", "--rejected", "10", "--seed", "7")
    short = {"kafka__session__timeout__ms": 6000, "drain__timeout__ms": 5000, "commit__interval__ms": 50}
    answers = Answers(world)

    def issue(stopping):
        # Of every two candidates one is approved, for one device. The dispatcher is never without work, nor far behind.
        while not stopping.is_set() or ledger.issued < 6000 * turns:
            if ledger.issued < 2 * len(answers.answered) + 40_000:
                ledger.issue(1000)
            else:
                let_pass(0.05)

    load = Background(issue)
    for turn in range(turns):
        process = Dispatcher(world, f"dispatch-0/{turn}", *flags, **short)
        mark = answers.count()
        until("receipts come", lambda m=mark: answers.count() > m + 1000, 60)
        other = None
        if turn % 2 == 1:
            other = Dispatcher(world, f"dispatch-1/{turn}", *flags, **short)
            other.wait_for_output("Dispatching", 30)
        random_moment(world, 200)
        expect_equal(process.kill(), -9, "the exit code of what was killed")
        if other is not None:
            expect_equal(other.terminate(40), 0, "the exit code of the one that left")
    load.stop(120)
    world.await_decided(90)
    gate.drain()
    dispatch_all(world, "dispatch-0/last", *flags, **short)
    answered = answers.to_end()
    due = {identity(output.record) for output in world.reader(["approved"]).to_end()}
    expect_equal(len(answered), len(due), "sends with a receipt")
    expect_equal(set(answered), due, "the sends with a receipt")
    doubled = [send for send, count in answered.items() if count != 1]
    expect(not doubled, f"{len(doubled)} sends have more than one receipt, such as {doubled[:3]}")
    check_calls(world, due, turns)


class Answers:
    """Counts the providers' answers of each send."""

    def __init__(self, world):
        self.reader = world.reader(["receipts"])
        self.answered = collections.Counter()

    def _take(self):
        for output in self.reader.read:
            if "status" in output.record:
                self.answered[identity(output.record)] += 1
        self.reader.read.clear()

    def count(self):
        self.reader.step(0.05)
        self._take()
        return len(self.answered)

    def to_end(self):
        self.reader.to_end()
        self._take()
        return self.answered


@case(EXACT)
def dispatcher_killed_twice(world):
    """kill -9 of the dispatcher under load, then of one that shares the work: one receipt an approval, one id a call."""
    killed(world, 2)


@case(EXACT, long=True)
def dispatcher_killed_20_times(world):
    """kill -9 of the dispatcher under load, every second time beside another, 20 times: one receipt an approval."""
    killed(world, 20)


def check_calls(world, due, torn_max):
    """No send without a call; a call that stands there again has the same id and the same answer."""
    calls = collections.defaultdict(list)
    for call in read_calls(world, torn_max):
        calls[identity(call)].append(call)
    expect_equal(set(calls), due, "the sends with a call")
    ids = {}
    for send, made in calls.items():
        told = {(call["id"], call["answer"]) for call in made}
        expect_equal(len(told), 1, f"ids and answers of {send}")
        expect_equal(ids.setdefault(made[0]["id"], send), send, "the send of an id")
    answers = collections.Counter(made[0]["answer"] for made in calls.values())
    share = answers["Unregistered"] / len(calls)
    expect(0.12 < share < 0.18, f"{share:.3f} of {len(calls)} are unregistered where 0.15 are asked for: {answers}")


@case()
def dispatcher_refuses_what_cannot_work(world):
    """Without --stub, with shares that do not add up, without topics or with other counts it says so and ends."""
    told = world.command("bare", "dispatch", "--config", world.config_path)
    expect_equal(told.child.returncode, 64, "the exit code without --stub")
    told = world.command("shares", "dispatch", "--stub", "--accepted", "50", "--config", world.config_path)
    expect_equal(told.child.returncode, 64, f"the exit code of half a share:\n{told.output()}")
    expect("add up to 50" in told.output(), told.output())
    told = world.command("absent", "dispatch", "--stub", "--config", world.config_path)
    expect_equal(told.child.returncode, 69, f"the exit code without topics:\n{told.output()}")
    world.create_topics(counts={"receipts": 3})
    told = world.command("counts", "dispatch", "--stub", "--config", world.config_path)
    expect_equal(told.child.returncode, 78, f"the exit code with three partitions of receipts:\n{told.output()}")
    expect("4" in told.output() and "3" in told.output(), f"both counts are not named:\n{told.output()}")

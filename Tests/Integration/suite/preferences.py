"""The preference table, as the topic it follows changes."""

import itertools

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.records import candidate, choice, device, document, encode
from harness.verify import check_all


NUMBERS = itertools.count(1)


class Asking:
    """Asks the gate about one user again and again, each time with a new candidate."""

    def __init__(self, world, reader, user_id="u-1", category="social"):
        self.world, self.reader = world, reader
        self.user_id, self.category = user_id, category

    def now(self):
        made = candidate(f"n-{next(NUMBERS)}", self.user_id, self.category)
        (output,) = self.world.decide(self.reader, made)
        return output.record

    def until_reason(self, reason, seconds=30):
        """Asks until the answer is that; returns it."""
        return until(
            f"{self.user_id} is answered {reason}",
            lambda: (record := self.now())["reason"] == reason and record,
            seconds,
        )


@case()
def changes_are_followed(world):
    """A committed change is used by later candidates and stays in force; each record names the document it used."""
    world.create_topics()
    world.prefer(document("u-1", 1))
    gate = world.gate()
    asking = Asking(world, world.reader())
    for version in range(1, 8):
        off = version % 2 == 0
        if version > 1:
            world.prefer(document("u-1", version, categories={"social": choice("user-off")} if off else {}))
        record = asking.until_reason("account_opted_out" if off else "ok")
        expect_equal(record["preference_version"], version, "the version that decided")
        for _ in range(3):
            expect_equal(asking.now()["preference_version"], version, "the version that decides from then on")
    gate.drain()
    check_all(world, asking.reader.to_end())


@case()
def tombstone_is_unknown_user(world):
    """C130: a null value erases a user, the text null does not; after a restart the older document is not back."""
    world.create_topics()
    world.prefer(document("u-1", 1))
    gate = world.gate()
    asking = Asking(world, world.reader())
    asking.until_reason("ok")
    world.prefer(b"null", "u-1")
    asking.until_reason("preferences_unreadable")
    world.prefer(None, "u-1")
    record = asking.until_reason("unknown_user")
    expect_equal(record["preference_version"], None, "the version of an erased user")
    gate.drain()
    again = world.gate("gate-0/again")
    expect_equal(asking.now()["reason"], "unknown_user", "the reason after a restart")
    world.prefer(document("u-1", 2))
    expect_equal(asking.until_reason("ok")["preference_version"], 2, "the version of the user come back")
    again.drain()


UNREADABLE = {
    "unknown choice": document("u", categories={"social": choice("withdrawn ")}),
    "unknown permission": document("u", devices=[device(os_permission="maybe")]),
    "unknown token status": document("u", devices=[device(token_status="")]),
    "65 devices": document("u", devices=[device(f"d-{n}") for n in range(65)]),
    "repeated member": b'{"user_id":"u","version":1,"account":{"categories":{"social":{"state":"user-off"},'
    b'"soci\\u0061l":{"state":"user-on"}}},"devices":[]}',
    "invalid UTF-8": b'{"user_id":"u","version":1,"account":{"x":"\xc3\x28"},"devices":[]}',
    "deep": b'{"user_id":"u","version":1,"account":{},"x":' + b"[" * 5000 + b"]" * 5000 + b',"devices":[]}',
    "500,000 brackets": b'{"user_id":"u","x":' + b"[" * 500_000,
    "no object": b"[]",
    "cut": b'{"user_id":"u","version":1,',
    "empty": b"",
    "text null": b"null",
}


@case()
def unreadable_until_repaired(world):
    """C135: a document that cannot be read blocks that user alone, in every category, until a readable one comes."""
    world.create_topics()
    world.prefer(document("witness"))
    users = {}
    for number, (what, made) in enumerate(UNREADABLE.items()):
        user_id = f"u-{number}"
        users[user_id] = what
        world.prefer(document(user_id, 1), flush=False)
        value = made if isinstance(made, bytes) else encode({**made, "user_id": user_id})
        world.prefer(value.replace(b'"user_id":"u"', f'"user_id":"{user_id}"'.encode()), user_id, flush=False)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    for user_id, what in users.items():
        for category in ("social", "marketing", "transactional"):
            record = Asking(world, reader, user_id, category).now()
            expect_equal(record["reason"], "preferences_unreadable", f"{category} on a document that is {what}")
    expect_equal(Asking(world, reader, "witness").now()["reason"], "ok", "another user")
    for user_id in users:
        world.prefer(document(user_id, 3), flush=False)
    world.flush()
    for user_id, what in users.items():
        asking = Asking(world, reader, user_id)
        expect_equal(asking.until_reason("ok")["preference_version"], 3, f"the version after {what} was repaired")
    gate.drain()


@case()
def keyless_preferences_are_passed_over(world):
    """C131: documents under a null or empty key decide for nobody and stop nothing."""
    # Kafka refuses a null key on a compacted topic, so here this one is not compacted.
    world.create_topics(config={"preferences.state": {"cleanup.policy": "delete"}})
    plain = encode(document("u-1", 7))
    for key in (None, b"", b"\xff\xfe", b"k" * 5000, b"u-2"):
        for partition in range(4):
            world.documents.append(world.write("preferences.state", key, plain, partition))
    world.flush()
    gate = world.gate()
    reader = world.reader()
    asking = Asking(world, reader)
    expect_equal(asking.now()["reason"], "unknown_user", "the user whose document came under other keys")
    world.prefer(document("u-1", 8))
    expect_equal(asking.until_reason("ok")["preference_version"], 8, "the version of a document under its own key")
    gate.drain()


@case(EXACT)
def aborted_preference_never_counts(world):
    """C117: a preference that a transaction wrote and aborted is never used, before or after a restart."""
    world.create_topics()
    world.prefer(document("u-1", 1, categories={"marketing": choice("user-off")}))
    gate = world.gate()
    asking = Asking(world, world.reader(), category="marketing")
    asking.until_reason("account_opted_out")
    producer = world.new_producer(**{"transactional.id": f"{world.prefix}-preferences"})
    producer.init_transactions(30)
    for number in range(3):
        producer.begin_transaction()
        made = document("u-1", 100 + number, categories={"marketing": choice("user-on")})
        world.write("preferences.state", b"u-1", encode(made), producer=producer)
        producer.flush(30)
        expect_equal(asking.now()["reason"], "account_opted_out", "while the transaction is open")
        producer.abort_transaction(30)
        expect_equal(asking.now()["reason"], "account_opted_out", "after the abort")
    # A record behind the aborted ones proves that the gate has read past them.
    world.prefer(document("u-1", 2, categories={"marketing": choice("user-off")}))
    record = until("version 2 is in force", lambda: (r := asking.now())["preference_version"] == 2 and r, 30)
    expect_equal(record["reason"], "account_opted_out", "the reason at last")
    gate.drain()
    again = world.gate("gate-0/again")
    record = asking.now()
    expect_equal((record["reason"], record["preference_version"]), ("account_opted_out", 2), "after a restart")
    again.drain()
    outputs = asking.reader.to_end()
    expect(not [output for output in outputs if output.topic == "approved"], "marketing was approved")


@case(EXACT)
def aborted_candidate_never_counts(world):
    """C117: candidates of an aborted transaction are not decided; those committed around them are."""
    world.create_topics(partitions=1, security=1)
    world.prefer(document("u-1"))
    gate = world.gate()
    reader = world.reader()
    producer = world.new_producer(**{"transactional.id": f"{world.prefix}-candidates"})
    producer.init_transactions(30)
    committed = []
    for number in range(20):
        producer.begin_transaction()
        for part in range(5):
            made = candidate(f"n-{number}-{part}", "u-1")
            world.candidates.append(world.write("candidate", b"u-1", encode(made), producer=producer))
            if number % 2 == 0:
                committed.append(made["notification_id"])
        producer.flush(30)
        if number % 2 == 0:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)
    reader.count(len(committed), 60)
    gate.drain()
    outputs = reader.to_end()
    expect_equal([output.record["notification_id"] for output in outputs], committed, "what was decided")
    check_all(world, outputs)


@case()
def hundred_thousand_users_before_the_first_decision(world):
    """No candidate is decided before the preferences are read: of 100,000 users none is ever unknown."""
    world.create_topics()
    total = 100_000
    for number in range(total):
        world.write("preferences.state", b"u-%d" % number, encode(document(f"u-{number}")))
        world.producer.poll(0)
    for number in range(0, total, 10):
        world.write("candidate", b"u-%d" % number, encode(candidate(f"n-{number}", f"u-{number}")))
        world.producer.poll(0)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    outputs = reader.count(total // 10, 120)
    gate.drain()
    expect_equal({output.header("reason") for output in outputs}, {b"ok"}, "reasons")

"""Users that nobody is: driven through the running topics like anybody, and seen by no dispatcher."""

from harness.cases import case
from harness.checking import expect_equal
from harness.records import ALL_DAY, candidate, device, document
from harness.world import outputs_of
from suite.dispatch import Dispatcher, read_calls

TOPICS = ("approved", "deferred", "dropped", "selftest")
NOBODY, SOMEBODY = "sendgate-selftest.active", "sendgate-selftest"


def approved_apart(world, **settings):
    """Approves at once, and out of a hold, for both users; returns (reader, gate)."""
    world.create_topics()
    for user in (NOBODY, SOMEBODY):
        world.prefer(document(user, devices=[device(f"{user}-d")], quiet_hours=ALL_DAY))
    gate = world.gate(release__spread_seconds=0, **settings)
    gate.await_ready()
    reader = world.reader(TOPICS)
    for user in (NOBODY, SOMEBODY):
        made = candidate(f"held-{user}", user, "transactional")
        held = world.decide(reader, made, headers=[("traceparent", b"t-1")])
        expect_equal([output.topic for output in held], ["deferred"], f"{user} inside the window")
        world.prefer(document(user, 2, devices=[device(f"{user}-d")]))
        # The release, and the null value that ends the hold.
        reader.until(f"{user}'s hold is released", lambda read: len(outputs_of(read, f"held-{user}")) >= 2, 30)
        world.decide(reader, candidate(f"now-{user}", user, "transactional"))
        world.decide(reader, candidate(f"off-{user}", user, "transactional", device_id="another"))
    return reader, gate


def check_apart(reader):
    for user, topic in ((NOBODY, "selftest"), (SOMEBODY, "approved")):
        found = {}
        for output in reader.read:
            if output.key == user.encode():
                found.setdefault(output.topic, []).append(output)
        where = {name: [output.record["reason"] for output in outputs] for name, outputs in found.items()}
        expect_equal(where, {topic: ["released", "ok"], "dropped": ["unknown_device"]}, f"records of {user}")
        for output in found[topic]:
            expect_equal((output.record["outcome"], output.header("outcome")), ("approved", b"approved"), "the outcome")
        expect_equal(found[topic][0].header("traceparent"), b"t-1", "the candidate's header")
        expect_equal(found[topic][0].partition, found["dropped"][0].partition, "the partition")
    expect_equal([o.topic for o in reader.read if o.key is None], [], "records without a key")


@case()
def synthetic_approvals_stay_apart(world):
    """At once and out of a hold: of the self-test's users no approval is on `approved`, and no dispatcher answers one."""
    reader, gate = approved_apart(world)
    reader.to_end()
    check_apart(reader)
    # The same notification again is a duplicate, as of anybody.
    again = world.decide(reader, candidate(f"now-{NOBODY}", NOBODY, "transactional"), count=2)
    expect_equal([output.record["reason"] for output in again], ["ok", "duplicate"], "the same once more")
    dispatcher = Dispatcher(world, "dispatch-0", "--until-idle", "1")
    expect_equal(dispatcher.wait(60), 0, "exit code of the dispatcher")
    expect_equal({call["user_id"] for call in read_calls(world)}, {SOMEBODY}, "whom a dispatcher sends to")
    expect_equal(dispatcher.summary()["approvals"], 2, "approvals that a dispatcher read")
    gate.drain()


@case()
def synthetic_approvals_stay_apart_without_transactions(world):
    """The same with `delivery=at_least_once`."""
    reader, gate = approved_apart(world, delivery="at_least_once")
    gate.drain()
    reader.to_end()
    check_apart(reader)

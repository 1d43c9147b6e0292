"""A user's erasure ends what was held for the user before it, without a record, whatever document follows."""

from harness.brokers import EXACT
from harness.cases import case
from harness.checking import expect_equal, until, until_equal
from harness.records import candidate, document
from suite.holds import AT_ONCE, Sleepers, ends, sleeper, still_held


def awake(user_id, version=1):
    """Would release at once what is held."""
    return document(user_id, version)


def back(world, user_id, made):
    """Erased and back, in one request as far as the client can."""
    world.prefer(None, user_id, flush=False)
    world.prefer(made, flush=False)
    world.flush()


def check(world, reader, erased):
    """Nothing is held, everybody else's was released once, and of the erased there is the hold and its end alone."""
    outputs = reader.to_end()
    expect_equal(still_held(outputs), [], "still held")
    found = ends(outputs)
    expect_equal([name for name in erased if name in found], [], "records of the erased")
    reasons = {name: [output.record["reason"] for output in ended] for name, ended in found.items()}
    expect_equal({name: why for name, why in reasons.items() if why != ["released"]}, {}, "ended otherwise")
    return found


@case()
def who_is_back_at_once_begins_anew(world):
    """Null value and new document back to back, 40 times: no hold is decided by the new document; a newer one of the same key tells nothing."""
    world.create_topics(partitions=2)
    people = Sleepers(world, 60, 16)
    reader = world.reader()
    gate = world.gate(environment=people.zones.environment, **AT_ONCE)
    gate.await_ready()
    for number in range(60):
        people.send(number, **({"collapse_key": "k"} if 30 <= number < 40 else {}))
    world.flush()
    people.await_held(reader)
    for number in range(40):
        back(world, f"u-{number}", awake(f"u-{number}") if number < 30 else sleeper(f"u-{number}", people.zone))

    # A newer one that is decided before the gate has heard of the erasure rightly supersedes.
    until_equal(lambda: gate.value("sendgate_preference_records_total"), 60 + 2 * 40, "documents that are followed")
    for number in range(30, 40):
        world.send(candidate(f"new-{number}", f"u-{number}", "transactional", collapse_key="k"))
    world.flush()
    erased = [f"n-{number}" for number in range(40)]
    reader.until("the holds of the erased are gone", lambda read: not set(erased) & set(still_held(read)))
    reader.until("the others have left", lambda read: len(ends(read)) >= 30, 60)
    found = check(world, reader, erased)
    expect_equal(len(found), 30, "notifications that ended")

    def results():
        return tuple(gate.value("sendgate_hold_results_total", result=result) for result in ("erased", "superseded"))

    until_equal(results, (40, 0), "holds that were erased and superseded, by the metrics")
    gate.drain()


QUICK = {"cleanup.policy": "compact", "segment.ms": 200, "min.cleanable.dirty.ratio": 0.01, "delete.retention.ms": 0}


def erased_without_a_gate(world, **config):
    """Six are held, the gate ends; u-0 is erased, u-1 to u-3 are erased and back. Returns the sleepers and a reader."""
    world.create_topics(partitions=1, security=1, config={"preferences.state": {**QUICK, **config}})
    people = Sleepers(world, 6, 3600)
    reader = world.reader()
    gate = world.gate("gate-0/first", environment=people.zones.environment, **AT_ONCE)
    gate.await_ready()
    for number in range(6):
        people.send(number)
    world.flush()
    people.await_held(reader)
    gate.drain()
    world.prefer(None, "u-0")
    for number in range(1, 4):
        back(world, f"u-{number}", awake(f"u-{number}"))
    return people, reader


def records_of(world, user_id):
    # What follows rolls the segments that the cleaner may take.
    world.prefer(document("filler"))
    key = user_id.encode()
    return [output for output in world.reader(["preferences.state"]).to_end() if output.key == key]


@case(EXACT)
def erased_while_the_gate_was_down(world):
    """Erased while no gate ran, three of four back with a document that would release: all four holds are nulled at the start."""
    people, reader = erased_without_a_gate(world, **{"min.compaction.lag.ms": 3_600_000})
    until("the log was cleaned, or could have been", lambda: len(records_of(world, "filler")) > 8, 60, every=0.5)
    expect_equal([output.value is None for output in records_of(world, "u-1")], [False, True, False], "left of u-1")
    again = world.gate("gate-0/again", environment=people.zones.environment, **AT_ONCE)
    reader.until("two are held", lambda read: still_held(read) == ["n-4", "n-5"], 30)
    expect_equal(ends(reader.to_end()), {}, "records of what was held")
    again.drain()


@case(EXACT)
def compaction_may_take_an_erasure_away(world):
    """What cannot be promised: without `min.compaction.lag.ms` the new document alone is left, and decides; who is not back is nulled."""
    people, reader = erased_without_a_gate(world)

    def left():
        return [len(records_of(world, f"u-{number}")) for number in range(4)]

    until("the erasures are gone from the topic", lambda: left() == [0, 1, 1, 1], 120, every=0.5)
    again = world.gate("gate-0/again", environment=people.zones.environment, **AT_ONCE)
    reader.until("the others are held", lambda read: still_held(read) == ["n-4", "n-5"], 30)
    expect_equal(sorted(ends(reader.to_end())), ["n-1", "n-2", "n-3"], "decided by the new document")
    again.drain()

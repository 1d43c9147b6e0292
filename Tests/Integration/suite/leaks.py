"""How long the gate still approves behind an opt-out, as it measures it and as the topics tell it."""

import random

from harness.cases import case
from harness.checking import expect, until_equal
from harness.records import candidate, choice, document
from suite.holds import seconds

USERS = 12
CATEGORIES = ("transactional", "social", "marketing")


def approved(world, reader):
    """user -> category -> [(decided_at in ms, preference_offset)]."""
    found = {}
    for output in reader.to_end():
        if output.topic == "approved":
            record = output.record
            at = round(seconds(record["decided_at"]) * 1000)
            mine = found.setdefault(record["user_id"], {}).setdefault(record["category"], [])
            mine.append((at, record["preference_offset"]))
    return found


def leak(approvals, opt_out):
    """Milliseconds from the opt-out's timestamp to the last approval on an older document; 0 where there is none."""
    late = [at - opt_out.timestamp for at, offset in approvals if offset < opt_out.offset]
    return max([0, *late])


@case()
def the_meter_agrees_with_the_topics(world):
    """Opt-outs and an erasure under load: count, sum and leaks of the gate's histogram are those that the records tell."""
    world.create_topics()
    reader = world.reader(["approved"])
    on = {category: choice("user-on") for category in CATEGORIES}
    for number in range(USERS):
        world.prefer(document(f"u-{number}", categories=on), flush=False)
    world.flush()
    gate = world.gate(optout__leak__objective__ms=1)
    gate.await_ready()
    # Ready is that everything can be read; what is heard before the partitions are read back is not measured.
    gate.wait_for_output("Restored partitions", 30)
    for number in range(USERS):
        world.send(candidate(f"first-{number}", f"u-{number}", "social"))
    world.flush()
    world.await_decided()
    opt_outs = []
    for turn in range(USERS):
        for number in range(600):
            user_id = f"u-{random.randrange(USERS)}"
            world.send(candidate(f"n-{turn}-{number}", user_id, random.choice(CATEGORIES)))
            if number == 300:
                opt_outs += opt_out(world, turn, on)
    world.flush()
    world.await_decided()

    until_equal(lambda: gate.value("sendgate_optouts_total"), len(opt_outs), "opt-outs that are measured")
    approvals = approved(world, reader)
    leaks = [leak(approvals.get(user_id, {}).get(category, []), sent) for user_id, category, sent in opt_outs]
    wanted = {
        "optouts_unmeasured_total": 0,
        "optout_leak_seconds_count": len(leaks),
        "optout_leak_seconds_sum": sum(leaks) / 1000,
        "optout_leaks_total": sum(1 for ms in leaks if ms > 0),
        "optout_leaks_late_total": sum(1 for ms in leaks if ms > 1),
        "optout_leak_objective_seconds": 0.001,
    }
    # Counted one after the other, so an opt-out may be in one and not yet in the next.
    until_equal(
        lambda: {name: round(gate.value(f"sendgate_{name}"), 3) for name in wanted}, wanted, f"the meter, with leaks of {leaks} ms"
    )
    expect(max(leaks) < 5000, f"approved for {max(leaks)} ms behind an opt-out")
    gate.drain()


def opt_out(world, number, on):
    """Of one category, or, for the last user, of all: [(user, category, what was written)]."""
    user_id = f"u-{number}"
    if number == USERS - 1:
        sent = world.prefer(None, user_id)
        return [(user_id, category, sent) for category in (*CATEGORIES, "security")]
    category = CATEGORIES[number % len(CATEGORIES)]
    sent = world.prefer(document(user_id, 2, categories={**on, category: choice("user-off")}))
    return [(user_id, category, sent)]

"""Very many partitions."""

import json

from harness.cases import case
from harness.checking import expect, expect_equal
from harness.records import candidate, document


@case(long=True)
def three_thousand_partitions(world):
    """A lane that gets 3,000 partitions at once starts, decides what is there, and ends with 0 and a summary."""
    world.create_topics(partitions=3000, security=2)
    for number in range(300):
        world.prefer(document(f"u-{number}"), flush=False)
        world.send(candidate(f"n-{number}", f"u-{number}"))
    world.flush()
    gate = world.gate(until_idle=3)
    expect_equal(gate.wait(120), 0, "the exit code")
    with open(gate.out_path, encoding="utf-8") as file:
        summary = json.loads(file.read())
    expect_equal((summary["candidates"], summary["approved"]), (300, 300), "candidates, and approved ones")
    expect("seek:" not in gate.output(), "a seek was not through in time")

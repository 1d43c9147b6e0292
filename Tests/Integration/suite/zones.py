"""The tz database on disk, as it changes under a running gate."""

import os
import shutil

from harness.cases import case
from harness.checking import expect_equal, until, until_equal
from harness.records import candidate, document, window_around_now

SYSTEM = "/usr/share/zoneinfo"
ZONE = "Asia/Tokyo"


REFUSED = "sendgate_tzdb_refused"


def is_ready_and_names(gate, path):
    status, body = gate.get("/readyz?verbose")
    return status == 200 and path in body


@case()
def a_zone_that_is_gone_wakes_nobody(world):
    """Q3: a zone file damaged, emptied or removed changes no decision; log, metric and /readyz name it until it is whole."""
    folder = os.path.join(world.directory, "zoneinfo")
    shutil.copytree(SYSTEM, folder, symlinks=True)
    path = os.path.join(folder, ZONE)
    world.create_topics()
    world.prefer(document("u-1", timezone=ZONE, quiet_hours=window_around_now(ZONE)))
    gate = world.gate(environment={"TZDIR": folder}, zones__check__interval__ms=1000)
    gate.await_ready()
    reader = world.reader()
    number = 0

    def still_quiet():
        nonlocal number
        number += 1
        (output,) = world.decide(reader, candidate(f"n-{number}", "u-1"))
        expect_equal(output.record["reason"], "quiet_hours_dropped", "the decision")

    still_quiet()
    expect_equal(gate.value(REFUSED), 0, f"{REFUSED} at first")
    for damage in (b"TZiX", b"", None):
        os.remove(path)
        if damage is not None:
            with open(path, "wb") as file:
                file.write(damage)
        until_equal(lambda: gate.value(REFUSED), 1, f"{REFUSED} with {damage!r} in place of the zone")
        still_quiet()
        gate.wait_for_output(path)
        # A lane that has just begun is not ready until something came of each of its partitions.
        until("/readyz is ready, and names the file", lambda: is_ready_and_names(gate, path))
        shutil.copy(os.path.join(SYSTEM, ZONE), path)
        until_equal(lambda: gate.value(REFUSED), 0, f"{REFUSED} with the whole database")
        still_quiet()
    gate.drain()

"""The tz database on disk, as it changes under a running gate."""

import os
import shutil

from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.records import candidate, document, window_around_now

SYSTEM = "/usr/share/zoneinfo"
ZONE = "Asia/Tokyo"


def refused(gate):
    return [value for name, _, value in gate.metrics() if name == "sendgate_tzdb_refused"]


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
    expect_equal(refused(gate), [0], "sendgate_tzdb_refused at first")
    for damage in (b"TZiX", b"", None):
        os.remove(path)
        if damage is not None:
            with open(path, "wb") as file:
                file.write(damage)
        until(f"{damage!r} in place of the zone is refused", lambda: refused(gate) == [1], 20)
        still_quiet()
        expect(path in gate.output(), "the log does not name the file")
        # A lane that has just begun is not ready until something came of each of its partitions.
        until("/readyz is ready, and names the file", lambda: is_ready_and_names(gate, path), 20)
        shutil.copy(os.path.join(SYSTEM, ZONE), path)
        until("the whole database is taken", lambda: refused(gate) == [0], 20)
        still_quiet()
    gate.drain()

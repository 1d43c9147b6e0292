#!/usr/bin/env python3
"""Holds through the broker: how fast they are made, read back and released, and the memory they take.

    holds.py --sendgate .build/release/sendgate --floor .build/release/bench-floor [--holds 1000000] [--partitions 4]
             [--workers 1]

Runs a broker of its own and one gate; needs confluent-kafka (Tests/Integration/requirements.txt). The floor's bare C reader
reads the same topics beside it. One JSON line at the end.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests/Integration"))

from harness.brokers import SendgateBroker  # noqa: E402
from harness.checking import until  # noqa: E402
from harness.made_zones import NIGHT, MadeZones, whole_second_in  # noqa: E402
from harness.records import candidate, document, encode  # noqa: E402
from harness.world import World  # noqa: E402

USERS = 50_000
OPEN = {"release__spread_seconds": 0, "release__apns_per_second": "", "release__fcm_per_second": ""}
TEXT = "Your order has been handed to the carrier and will arrive between nine and noon. " * 3


def gauge(gate, name):
    return sum(value for found, _, value in gate.metrics() if found == f"sendgate_{name}")


def resident_mib(gate):
    with open(f"/proc/{gate.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


def restore_seconds(gate):
    """Of the worker that was through last: they read beside each other."""
    found = gate.metrics()
    return max(value for name, _, value in found if name == "sendgate_restore_duration_seconds")


def read_bare(world, floor, name):
    """A C program that reads a topic and does nothing with it."""
    words = [floor, "-b", world.broker.bootstrap, "-i", world.topics[name], "-m", "read"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sendgate", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--holds", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1, help="of the ordinary lane")
    options = parser.parse_args()
    sendgate = str(pathlib.Path(options.sendgate).resolve())
    directory = tempfile.mkdtemp(prefix="sendgate-holds-")
    broker = SendgateBroker(sendgate, directory).start()
    world = World(sendgate, broker, "bench", directory)
    try:
        measure(world, options)
    finally:
        world.finish()
        broker.finish()
        broker.forget()


def measure(world, options):
    count, found = options.holds, {"holds": options.holds, "workers": options.workers}
    world.create_topics(partitions=options.partitions)
    zones = MadeZones(world.directory)
    zone = zones.night_until("Test/Night", whole_second_in(7200))
    for number in range(USERS):
        world.prefer(document(f"u-{number}", quiet_hours=NIGHT, timezone=zone), flush=False)
    world.flush(300)
    for number in range(count):
        user_id = f"u-{number % USERS}"
        made = candidate(f"n-{number}", user_id, "transactional", payload={"title": f"Order {number}", "text": TEXT})
        world.write("candidate", user_id.encode(), encode(made))
    world.flush(300)

    def start(name):
        return world.gate(name, environment=zones.environment, zones__check__interval__ms=1000, workers=options.workers, **OPEN)

    empty = start("gate-0/0").await_ready(300)
    began = time.monotonic()
    until("all are held", lambda: gauge(empty, "holds") >= count, 1800, every=0.1)
    found["held_per_second"] = round(count / (time.monotonic() - began))
    found["resident_mib"] = round(resident_mib(empty))
    empty.drain()

    # Of both topics: as many ids as holds.
    bare = [read_bare(world, options.floor, name) for name in ("deferred", "state")]
    records = sum(one["records"] for one in bare)
    found["bare_records_per_second"] = round(records / sum(one["seconds"] for one in bare))

    full = start("gate-0/1")
    full.wait_for_output("Restored partitions", 600)
    until("all are read back", lambda: gauge(full, "restoring_partitions") == 0 and gauge(full, "holds") >= count, 600)
    found["restore_seconds"] = restore_seconds(full)
    found["restored_records_per_second"] = round(records / found["restore_seconds"])
    found["restore_to_bare"] = round(found["restored_records_per_second"] / found["bare_records_per_second"], 2)
    found["resident_after_restore_mib"] = round(resident_mib(full))
    found["index_bytes_a_hold"] = round(gauge(full, "holds_index_bytes") / count, 1)
    found["payload_bytes_a_hold"] = round(gauge(full, "holds_payload_bytes") / count, 1)

    zones.night_until("Test/Night", int(time.time()) - 60)
    until("the first have left", lambda: gauge(full, "holds") < count, 60, every=0.02)
    began = time.monotonic()
    until("all have left", lambda: gauge(full, "holds") == 0, 1800, every=0.1)
    found["released_per_second"] = round(count / (time.monotonic() - began))
    full.drain(120)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks of the test broker by real clients: confluent-kafka (librdkafka) and kcat.

Each check has the result that Apache Kafka gives, so the script also runs against Kafka itself:

    wire_test.py --broker .build/release/sendgate          starts a broker of its own
    wire_test.py --bootstrap 127.0.0.1:9092                uses one that runs

Run it with the Python of a virtual environment that has confluent-kafka; its version is the
librdkafka under test. `--only NAME` runs the checks whose names contain NAME.
"""
import argparse
import subprocess
import sys
import time
import traceback

import confluent_kafka as ck

# Each registers its checks, in this order.
from wire import records, topics, transactions, groups  # noqa: F401
from wire.clients import CHECKS, SETTINGS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--broker", help="the sendgate binary")
    parser.add_argument("--bootstrap", help="HOST:PORT of a running broker instead")
    parser.add_argument("--kcat", default="kcat")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    SETTINGS.kcat = arguments.kcat
    process = None
    if arguments.bootstrap:
        SETTINGS.bootstrap = arguments.bootstrap
    else:
        process = subprocess.Popen(
            [arguments.broker, "broker", "--port", "0", "--log-check-ms", "200"],
            stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        SETTINGS.bootstrap = "127.0.0.1:" + line.strip().rsplit(":", 1)[1]
    print(f"librdkafka {ck.libversion()[0]}, broker {SETTINGS.bootstrap}", flush=True)
    passed = failed = 0
    try:
        for function in CHECKS:
            if arguments.only not in function.__name__:
                continue
            start = time.time()
            try:
                function()
                passed += 1
                print(f"ok   {function.__name__} ({time.time() - start:.1f} s)", flush=True)
            except Exception:
                failed += 1
                print(f"FAIL {function.__name__} ({time.time() - start:.1f} s)", flush=True)
                traceback.print_exc(file=sys.stdout)
    finally:
        if process:
            process.terminate()
            code = process.wait(30)
            if code != 0:
                failed += 1
                print(f"FAIL the broker ended with {code}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

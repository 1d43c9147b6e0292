"""Records of 400 bytes into the test broker and out of it by bare C clients (kcat in, the floor's reader out).

    broker_rate.py --sendgate PATH --floor PATH [--records N] [--rounds N] [--partitions N]

Prints records per second, and processor time per record of the client and of the broker.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import confluent_kafka.admin
import cores


def started(sendgate, folder):
    process = subprocess.Popen([sendgate, "broker", "--port", "0", "--data", folder], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1]


def create(bootstrap, topic, partitions):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    made = admin.create_topics([confluent_kafka.admin.NewTopic(topic, partitions, 1)])
    made[topic].result(20)


def told(name, records, runs):
    def middle(key):
        return statistics.median(run[key] for run in runs)

    rates = sorted(run["rate"] for run in runs)
    print(f"{name:<18}{rates[0]:>12,.0f}{middle('rate'):>12,.0f}{rates[-1]:>12,.0f}"
          f"{1e6 * middle('client') / records:>12.2f}{1e6 * middle('broker') / records:>12.2f}")


def timed(command, broker, records):
    before = cores.cpu_seconds(broker.pid)
    out, busy = cores.run(command, broker)
    inside = json.loads(out) if out.startswith("{") else None
    wall = inside["seconds"] if inside else busy.samples[-1][0] - busy.samples[0][0]
    client = inside["cpu_seconds"] if inside else busy.samples[-1][1]
    if inside and inside["records"] != records:
        raise SystemExit(f"read {inside['records']} of {records}")
    return {"rate": records / wall, "client": client, "broker": cores.cpu_seconds(broker.pid) - before}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sendgate", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sendgate-broker-rate.") as folder:
        lines = os.path.join(folder, "lines")
        with open(lines, "w") as file:
            for number in range(arguments.records):
                file.write(f"{number:0400d}\n")
        written, read = [], []
        for turn in range(arguments.rounds):
            # A broker of its own each round: all its records are in memory.
            broker, bootstrap = started(arguments.sendgate, os.path.join(folder, f"data-{turn}"))
            try:
                create(bootstrap, "rate", arguments.partitions)
                produce = ["kcat", "-P", "-b", bootstrap, "-t", "rate", "-p", "-1", "-z", "none", "-X", "linger.ms=20",
                           "-X", "queue.buffering.max.messages=1000000", "-l", lines]
                consume = [arguments.floor, "-m", "read", "-b", bootstrap, "-i", "rate"]
                written.append(timed(produce, broker, arguments.records))
                read.append(timed(consume, broker, arguments.records))
            finally:
                broker.terminate()
                broker.wait()
        print(f"{arguments.records:,} records of 400 bytes, {arguments.partitions} partitions, uncompressed, "
              f"{arguments.rounds} rounds, {os.cpu_count()} cores")
        print(f"{'':<18}{'records/s  min':>12}{'median':>12}{'max':>12}{'client us':>12}{'broker us':>12}")
        told("written by kcat", arguments.records, written)
        told("read by C", arguments.records, read)


main()

#!/usr/bin/env python3
"""End to end beside the floor and the peers, interleaved: one table of ratios, as text, JSON and SVG.

    bench.py --sendgate PATH --floor PATH (--bootstrap HOST:PORT | --broker-folder DIR) [--rounds N] [--records N]

A round runs each contender once over the same candidates: the floor (a C program that decides
nothing) and the gate in both delivery modes, and the Python peer; then the gate's restore of a topic of
preferences beside a bare read of it. Ratios are taken within a round. Processor time is the whole
process's, client library included, from the first record taken to the last commit; a goal is a ratio,
since absolute figures move with the machine.
"""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import uuid

from confluent_kafka.admin import AdminClient

import chart
import cores

ROLES = ["candidate", "candidate.security", "approved", "deferred", "dropped", "selftest", "receipts", "state",
         "state.security", "preferences.state", "preferences.defaults", "preferences.events", "preferences.audit"]
OUTPUTS = ["approved", "deferred", "dropped"]
# A run's own: what it writes, and what it remembers.
OWN = OUTPUTS + ["state", "state.security"]


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.prefix = "bench." + uuid.uuid4().hex[:8]
        self.broker = None
        self.runs = 0
        if arguments.bootstrap:
            self.bootstrap = arguments.bootstrap
        else:
            self.start_broker(arguments.broker_folder)
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap})
        self.folder = arguments.folder

    def start_broker(self, folder):
        command = [self.arguments.sendgate, "broker", "--port", "0", "--data", folder]
        self.broker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.broker.stdout.readline()
        self.bootstrap = re.search(r"listening on (\S+)", line).group(1)

    def stop(self):
        if self.broker:
            self.broker.terminate()
            self.broker.wait()

    def names(self, run):
        """Inputs are the bench's, outputs a run's own, so that no run reads or compacts another's. A
        run of restores has documents of its own, and no candidates."""
        names = {role: f"{self.prefix}.{role}" for role in ROLES}
        names.update({role: f"{self.prefix}.{run}.{role}" for role in OWN})
        if run == "restore":
            names.update({role: f"{self.prefix}.{run}.{role}" for role in ROLES})
        return names

    def settings(self, run, group):
        pairs = [f"kafka.bootstrap.servers={self.bootstrap}", f"group.id={group}", "topics.create.replication.factor=1"]
        pairs += [f"topics.{role}={name}" for role, name in self.names(run).items()]
        return [word for pair in pairs for word in ("--set", pair)]

    def sendgate(self, *words, run="base", group="bench", stdin=None):
        command = [self.arguments.sendgate, *words, *self.settings(run, group)]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
        return done.stdout

    def generate(self, folder, users, candidates):
        os.makedirs(folder, exist_ok=True)
        generate = [self.arguments.sendgate, "generate", "--users", str(users), "--candidates",
                    str(candidates), "--seed", "1", "--out", folder]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)

    def prepare(self):
        self.sendgate("topics", "create")
        self.generate(self.folder, self.arguments.users, self.arguments.records)
        with open(f"{self.folder}/preferences.jsonl") as file:
            self.sendgate("publish", "--preferences", stdin=file)
        with open(f"{self.folder}/candidates.jsonl") as file:
            self.sendgate("publish", stdin=file)
        with open(f"{self.folder}/candidates.jsonl", "rb") as file:
            self.records = sum(1 for _ in file)
        self.sendgate("topics", "create", run="restore")
        self.generate(f"{self.folder}/documents", self.arguments.documents, 1)
        with open(f"{self.folder}/documents/preferences.jsonl") as file:
            self.sendgate("publish", "--preferences", stdin=file, run="restore")

    def measure_outputs(self, run):
        """Bytes and counts of what the gate wrote, for the floor to write as much."""
        self.counts, size, lines = {}, 0, {}
        for role in OUTPUTS:
            command = ["kcat", "-C", "-q", "-b", self.bootstrap, "-t", self.names(run)[role], "-X",
                       "isolation.level=read_committed", "-e", "-o", "beginning"]
            lines[role] = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
            self.counts[role] = len(lines[role])
            size += sum(map(len, lines[role]))
        command = ["kcat", "-C", "-q", "-b", self.bootstrap, "-t", self.names(run)["state"], "-X",
                   "isolation.level=read_committed", "-e", "-o", "beginning", "-f", "%o\n"]
        self.states = len(subprocess.run(command, capture_output=True, check=True).stdout.splitlines())
        self.outputs = sum(self.counts.values())
        self.bytes_per_output = round(size / self.outputs)
        # Some of each topic, in their proportions.
        step = max(1, self.outputs // 10_000)
        with open(f"{self.folder}/samples.jsonl", "wb") as file:
            file.writelines(line + b"\n" for role in OUTPUTS for line in lines[role][::step])

    def gate(self, mode):
        def go(run):
            command = [self.arguments.sendgate, "run", "--until-idle", "1", "--set", f"delivery={mode}",
                       *self.settings(run, run)]
            out, busy = cores.run(command, self.broker)
            took = json.loads(out.splitlines()[-1])
            if took["candidates"] != self.records or took["aborts"]:
                sys.exit(f"the gate decided {took['candidates']} of {self.records}, aborts {took['aborts']}")
            return took["seconds"], took["process_seconds"], took, busy
        return go

    def floor(self, mode):
        def go(run):
            names = self.names(run)
            share = {role: str(round(1000 * count / self.outputs)) for role, count in self.counts.items()}
            command = [self.arguments.floor, "-b", self.bootstrap, "-g", run, "-i", names["candidate"],
                       "-a", names["approved"], "-d", names["deferred"], "-x", names["dropped"],
                       "-n", str(self.records), "-f", f"{self.folder}/samples.jsonl",
                       "-r", str(round(1000 * self.outputs / self.records)),
                       "-s", share["approved"], "-p", share["deferred"], "-t", names["state"],
                       "-q", str(round(1000 * self.states / self.records)), "-m", mode]
            out, busy = cores.run(command, self.broker)
            took = json.loads(out)
            return took["seconds"], took["cpu_seconds"], took, busy
        return go

    def peer(self, run):
        names = self.names(run)
        command = [sys.executable, os.path.join(os.path.dirname(__file__), "peer.py"), "--bootstrap", self.bootstrap,
                   "--group", run, "--input", names["candidate"], "--preferences", names["preferences.state"],
                   "--records", str(self.records)]
        command += [word for role in [*OUTPUTS, "state"] for word in ("--" + role, names[role])]
        out, busy = cores.run(command, self.broker)
        took = json.loads(out)
        return took["seconds"], took["cpu_seconds"], took, busy

    def run(self, contender):
        self.runs += 1
        run = f"run{self.runs}"
        self.sendgate("topics", "create", run=run)
        seconds, cpu, took, busy = contender(run)
        broker = busy.broker_seconds(seconds)
        result = {"rate": self.records / seconds, "cpu_us": 1e6 * cpu / self.records,
                  "broker_us": None if broker is None else 1e6 * broker / self.records,
                  "cores": busy.cores(seconds), "took": took}
        return run, result

    def drop(self, run):
        for future in self.admin.delete_topics([self.names(run)[role] for role in OWN]).values():
            future.result()

    def restore(self, turn):
        """Records a second until the lanes may rely on the preferences, beside a read that does nothing."""
        command = [self.arguments.sendgate, "run", "--until-idle", "1", *self.settings("restore", f"restore{turn}")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        line = re.search(r"The preferences are read.*", done.stderr).group(0)
        records, ms = (int(re.search(rf'{name}"?[=:](\d+)', line).group(1)) for name in ("records", "took.ms"))
        names = self.names("restore")
        command = [self.arguments.floor, "-b", self.bootstrap, "-i", names["preferences.state"], "-m", "read"]
        took = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        if took["records"] != records:
            sys.exit(f"the gate read {records} preferences, the floor {took['records']}")
        return {"gate": 1000 * records / ms, "floor": records / took["seconds"]}

    def rounds(self):
        contenders = {
            "floor, exactly once": self.floor("exactly_once"), "gate, exactly once": self.gate("exactly_once"),
            "floor, at least once": self.floor("at_least_once"), "gate, at least once": self.gate("at_least_once"),
            "Python peer, exactly once": self.peer}
        if self.arguments.only:
            contenders = {name: go for name, go in contenders.items() if re.search(self.arguments.only, name)}
        warm, _ = self.run(self.gate("exactly_once"))
        self.measure_outputs(warm)
        self.drop(warm)
        self.restore("warm")
        results = {name: [] for name in contenders}
        self.restores = []
        for number in range(self.arguments.rounds):
            for name, contender in contenders.items():
                run, result = self.run(contender)
                self.drop(run)
                results[name].append(result)
                print(f"round {number + 1}: {name}: {result['rate']:,.0f}/s, {result['cpu_us']:.2f} us, "
                      f"{result['cores']:.2f} cores", file=sys.stderr)
            self.restores.append(self.restore(number))
        return results


def spread(values):
    return f"{min(values):,.2f} {statistics.median(values):,.2f} {max(values):,.2f}"


def ratios(results, a, b, key):
    return [x[key] / y[key] for x, y in zip(results[a], results[b])]


def report(bench, results, arguments):
    version = subprocess.run([arguments.sendgate, "--version"], capture_output=True, text=True).stdout.strip()
    lines = [f"{version}; {bench.records:,} candidates, {bench.outputs:,} outputs of {bench.bytes_per_output} bytes, "
             f"{bench.states:,} state records; "
             f"{arguments.rounds} rounds; {platform.machine()}, {os.cpu_count()} cores; broker "
             f"{'of the project' if bench.broker else bench.bootstrap}", "",
             f"{'':<28}{'records/s  min median max':>34}{'us/record  min median max':>30}{'broker us':>11}{'cores':>7}"]
    for name, runs in results.items():
        rates = [run["rate"] for run in runs]
        broker = [run["broker_us"] for run in runs if run["broker_us"] is not None]
        lines.append(f"{name:<28}{min(rates):>12,.0f}{statistics.median(rates):>11,.0f}{max(rates):>11,.0f}"
                     f"{spread([run['cpu_us'] for run in runs]):>30}"
                     f"{statistics.median(broker) if broker else float('nan'):>11.2f}"
                     f"{statistics.median([run['cores'] for run in runs]):>7.2f}")
    gate, floor = "gate, exactly once", "floor, exactly once"
    loose, peer = "gate, at least once", "Python peer, exactly once"
    goals = [
        ("G1", "processor time, gate : floor, exactly once", gate, floor, "cpu_us", "<= 1.30"),
        ("G2", "throughput, gate : floor, exactly once", gate, floor, "rate", ">= 0.85"),
        ("G3", "processor time, exactly : at least once", gate, loose, "cpu_us", "<= 1.1"),
        ("G3", "throughput, exactly : at least once", gate, loose, "rate", ">= 0.9"),
        ("G5", "processor time, Python peer : gate", peer, gate, "cpu_us", ">= 4")]
    table = [(goal, name, ratios(results, a, b, key), wanted)
             for goal, name, a, b, key, wanted in goals if a in results and b in results]
    table.append(("G10", "restore from the topic, gate : bare read",
                  [run["gate"] / run["floor"] for run in bench.restores], ">= 0.5"))
    # Without the broker's own time it says little: then it is elsewhere.
    if bench.broker and gate in results:
        table.append(("G12", "cores busy, gate and broker, exactly once",
                      [run["cores"] for run in results[gate]], ">= 1.7 of 2"))
    lines += ["", f"{'':<4}{'ratio, pair by pair':<46}{'min':>8}{'median':>8}{'max':>8}   goal"]
    for goal, name, values, wanted in table:
        lines.append(f"{goal:<4}{name:<46}{min(values):>8.2f}{statistics.median(values):>8.2f}{max(values):>8.2f}   {wanted}")
    rates = [[run[side] for run in bench.restores] for side in ("gate", "floor")]
    lines.append("restore, records/s, min median max: gate " + spread(rates[0]) + "; bare read " + spread(rates[1]))
    commits = [run["took"].get("commit_p99_ms") for run in results.get(gate, [])]
    lines.append(f"G3  commit p99 in ms, upper bound of its bucket: {commits}   goal <= 150")
    return "\n".join(lines), table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sendgate", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--bootstrap")
    parser.add_argument("--broker-folder")
    parser.add_argument("--folder", required=True, help="for the workload")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--documents", type=int, default=200_000, help="in the topic that is restored")
    parser.add_argument("--only", help="contenders whose name this expression finds")
    parser.add_argument("--out", help="folder for bench.json and bench.svg")
    arguments = parser.parse_args()
    began = time.time()
    bench = Bench(arguments)
    try:
        bench.prepare()
        results = bench.rounds()
        text, table = report(bench, results, arguments)
    finally:
        bench.stop()
    print(text)
    print(f"took {time.time() - began:.0f} s")
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(f"{arguments.out}/bench.json", "w") as file:
            json.dump({"report": text.splitlines(), "results": results}, file, indent=1)
        with open(f"{arguments.out}/bench.svg", "w") as file:
            file.write(chart.draw(results, table))


if __name__ == "__main__":
    main()

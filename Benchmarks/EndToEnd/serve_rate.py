"""The preference service under wrk, beside what SQLite alone gives on the same disk in the same run.

    serve_rate.py --sendgate PATH --store-bench PATH [--folder DIR] [--rounds N] [--seconds N] [--connections N]

A round: SQLite's floor, answers without the store, reads alone, writes alone, and both at once. The service publishes to
a broker of its own meanwhile. The folder must be on the disk that is meant. Prints a table, and what ends with a failure
of any request ends the run.
"""
import argparse
import http.client
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GOALS = {"read": 5_000, "write": 1_000}


class Service:
    """`sendgate serve` with users in it, and the broker that it publishes to."""

    def __init__(self, arguments, folder):
        self.users = arguments.users
        broker = [arguments.sendgate, "broker", "--port", "0", "--data", f"{folder}/broker"]
        os.mkdir(f"{folder}/broker")
        self.broker = subprocess.Popen(broker, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        bootstrap = re.search(r"listening on (\S+)", self.broker.stdout.readline()).group(1)
        kafka = ["--set", f"kafka.bootstrap.servers={bootstrap}", "--set", "topics.create.replication.factor=1"]
        subprocess.run([arguments.sendgate, "topics", "create", *kafka], check=True, stdout=subprocess.DEVNULL)
        new_token = ["token", "new", "--role", "admin", "--name", "bench", "--file", f"{folder}/tokens"]
        made = subprocess.run([arguments.sendgate, *new_token], check=True, capture_output=True, text=True)
        self.token = made.stdout.strip()
        settings = {
            "serve.address": "127.0.0.1:0", "serve.database.file": f"{folder}/preferences.db",
            "serve.tokens.file": f"{folder}/tokens", "serve.android.package": "com.example.app",
            "serve.token.requests_per_second": 1_000_000, "serve.token.burst_max": 1_000_000,
            "serve.address.requests_per_second": 1_000_000, "serve.address.burst_max": 1_000_000, "log.format": "json"}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.log = open(f"{folder}/serve.log", "w+")
        self.child = subprocess.Popen([arguments.sendgate, "serve", *kafka, *words], stderr=self.log)
        self.port = self.await_port(f"{folder}/serve.log")

    def await_port(self, path):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.child.poll() is None:
            with open(path) as file:
                found = re.search(r'"http\.port":(\d+)', file.read())
            if found:
                return int(found.group(1))
            time.sleep(0.05)
        sys.exit(f"sendgate serve did not start: {open(path).read()}")

    def ask(self, connection, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {text}")
        return text

    def fill(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for user in range(self.users):
            body = {"platform": "ios", "os_permission": "granted", "region": "DE"}
            self.ask(connection, "PUT", f"/v1/users/user-{user}/devices/d-{user}", body)
        connection.close()

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        text = self.ask(connection, "GET", "/metrics")
        connection.close()
        return float(re.search(rf"^sendgate_preferences_{name} (\S+)", text, re.MULTILINE).group(1))

    def wrk(self, kind, connections, seconds):
        """Starts wrk; `told` waits for it."""
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", f"{HERE}/serve_rate.lua",
                   f"http://127.0.0.1:{self.port}", "--", kind, str(self.users), self.token]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def stop(self):
        self.child.terminate()
        code = self.child.wait(60)
        self.broker.terminate()
        self.broker.wait()
        self.log.close()
        if code != 0:
            sys.exit(f"sendgate serve ended with {code}")


def told(wrk):
    out = wrk.communicate()[0]
    if wrk.returncode:
        sys.exit(f"wrk ended with {wrk.returncode}: {out}")
    found = json.loads(out.splitlines()[-1])
    if found["failed"]:
        sys.exit(f"{found['failed']} requests failed: {out}")
    return {"rate": found["requests"] / found["seconds"], "p50": found["p50_us"] / 1000, "p99": found["p99_us"] / 1000}


def floor(arguments, folder, rows):
    command = [arguments.store_bench, "floor", folder, "1", str(rows)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def one_round(service, arguments, folder, rows):
    """By name what was measured, and how many requests shared a commit."""
    found = {"floor": floor(arguments, folder, rows)}
    found["nothing"] = told(service.wrk("nothing", arguments.connections, 3))
    found["read"] = told(service.wrk("read", arguments.connections, arguments.seconds))
    before = service.metric("requests_total"), service.metric("commits_total")
    found["write"] = told(service.wrk("write", arguments.connections, arguments.seconds))
    after = service.metric("requests_total"), service.metric("commits_total")
    found["shared"] = (after[0] - before[0]) / (after[1] - before[1])
    found["waiting"] = service.metric("outbox_waiting")
    half = max(1, arguments.connections // 2)
    both = service.wrk("read", half, arguments.seconds), service.wrk("write", half, arguments.seconds)
    found["read, beside writes"], found["write, beside reads"] = [told(each) for each in both]
    return found


def spread(values, form="{:,.0f}"):
    middle, least, most = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"


def report(rounds, arguments):
    print(f"{arguments.connections} connections, {len(rounds)} rounds of {arguments.seconds} s, {arguments.users:,} users, "
          f"{platform.machine()}, {os.cpu_count()} cores, wrk and the broker on them\n")
    print("| | a second, median (min to max) | p50, ms | p99, ms | SQLite alone, a second | ratio |\n|---|---|---|---|---|---|")
    rows = [("reads: a device's settings", "read", "reads_per_second"), ("writes: a choice", "write", "rows_per_second"),
            ("reads beside those writes", "read, beside writes", None), ("writes beside those reads", "write, beside reads", None),
            ("answers without the store", "nothing", None)]
    for name, key, beside in rows:
        runs = [each[key] for each in rounds]
        cells = [name, spread([run["rate"] for run in runs])]
        cells += [spread([run[p] for run in runs], "{:.1f}") for p in ("p50", "p99")]
        if beside:
            cells.append(spread([each["floor"][beside] for each in rounds]))
            cells.append(spread([run["rate"] / each["floor"][beside] for run, each in zip(runs, rounds)], "{:.2f}"))
        else:
            cells += ["", ""]
        print(f"| {' | '.join(cells)} |")
    print(f"\nRequests that shared a commit: {spread([each['shared'] for each in rounds], '{:.1f}')}; SQLite alone, commits of "
          f"one row: {spread([each['floor']['commits_per_second'] for each in rounds])} a second. "
          f"Records that waited to be published behind the writes: {spread([each['waiting'] for each in rounds])}.")
    missed = [key for key, goal in GOALS.items() if statistics.median(each[key]["rate"] for each in rounds) < goal]
    print("goals: 5,000 reads, 1,000 writes a second: " + (f"missed: {', '.join(missed)}" if missed else "met"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sendgate", required=True)
    parser.add_argument("--store-bench", required=True)
    parser.add_argument("--folder", default=".", help="on the disk that is meant")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--users", type=int, default=1_000)
    arguments = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: apt-get install wrk")
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="serve-rate.", dir=arguments.folder) as folder:
        service = Service(arguments, folder)
        try:
            service.fill()
            told(service.wrk("write", arguments.connections, 2))
            # The floor's commits are as large as the service's were.
            rounds, rows = [], service.metric("requests_total") / service.metric("commits_total")
            for number in range(arguments.rounds):
                rounds.append(one_round(service, arguments, folder, max(1, round(rows))))
                rows = rounds[-1]["shared"]
                print(f"round {number + 1}: {rounds[-1]['read']['rate']:,.0f} reads/s, {rounds[-1]['write']['rate']:,.0f} writes/s",
                      file=sys.stderr)
        finally:
            service.stop()
    report(rounds, arguments)
    print(f"took {time.time() - began:.0f} s")


main()

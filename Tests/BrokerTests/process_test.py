#!/usr/bin/env python3
"""Checks of the test broker as a process: kill -9 with a data folder, injection, signals, usage.

    process_test.py --broker .build/release/sendgate

Run it with the Python of a virtual environment that has confluent-kafka.
"""
import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

CHECKS = []
ARGS = None


def check(function):
    CHECKS.append(function)
    return function


def free_port():
    """Below those that the system gives to clients: while a broker is down, a client that looks for it could be given
    the very port as its own end."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Broker:
    all = []

    def __init__(self, *flags):
        Broker.all.append(self)
        self.flags = list(flags)
        self.port = free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [ARGS.broker, "broker", "--port", str(self.port)] + self.flags,
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, f"the broker did not start: {self.process.wait(30)}"
        assert int(line.strip().rsplit(":", 1)[1]) == self.port, line
        self.address = f"127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0

    def topic(self, name, partitions=1):
        client = AdminClient({"bootstrap.servers": self.address})
        for future in client.create_topics([NewTopic(name, partitions, 1)]).values():
            future.result(20)


def quiet(*_):
    pass


def read(address, name, partition, isolation="read_committed"):
    c = Consumer({"bootstrap.servers": address, "group.id": "reader-" + uuid.uuid4().hex,
                  "enable.partition.eof": True, "isolation.level": isolation,
                  "auto.offset.reset": "earliest", "error_cb": quiet})
    c.assign([TopicPartition(name, partition, 0)])
    found = []
    deadline = time.time() + 60
    while time.time() < deadline:
        m = c.poll(0.5)
        if m is None:
            continue
        if m.error():
            if m.error().code() == KafkaError._PARTITION_EOF:
                c.close()
                return found
            continue
        found.append(m.value())
    raise AssertionError("no end of the partition")


@check
def kill_9_loses_nothing_and_doubles_nothing():
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker("--data", folder)
        broker.topic("t", 2)
        p = Producer({"bootstrap.servers": broker.address, "enable.idempotence": True,
                      "linger.ms": 2, "message.timeout.ms": 60000, "error_cb": quiet,
                      "reconnect.backoff.max.ms": 200, "log_level": 0})
        acknowledged = []
        total = 20000
        seed = int(time.time())
        print(f"     seed {seed}")
        chance = random.Random(seed)
        done = threading.Event()

        def killer():
            for _ in range(3):
                time.sleep(chance.uniform(0.2, 0.6))
                broker.kill()
                broker.start()
            done.set()

        thread = threading.Thread(target=killer)
        thread.start()
        for i in range(total):
            p.produce("t", value=b"%d" % i, partition=i % 2,
                      on_delivery=lambda e, m: e is None and acknowledged.append(m.value()))
            p.poll(0)
            if i % 100 == 0 and not done.is_set():
                time.sleep(0.01)
        assert p.flush(60) == 0
        thread.join()
        assert len(acknowledged) == total
        for partition in (0, 1):
            found = read(broker.address, "t", partition)
            assert found == [b"%d" % i for i in range(partition, total, 2)], partition
        broker.stop()


@check
def kill_9_keeps_transactions_whole():
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker("--data", folder)
        broker.topic("t", 2)
        seed = int(time.time())
        print(f"     seed {seed}")
        chance = random.Random(seed)
        stop = threading.Event()

        def killer():
            for _ in range(3):
                time.sleep(chance.uniform(0.3, 0.8))
                broker.kill()
                broker.start()
            stop.set()

        thread = threading.Thread(target=killer)
        thread.start()
        p = None
        committed = []
        number = 0
        while not stop.is_set() or number < 50:
            try:
                if p is None:
                    p = Producer({"bootstrap.servers": broker.address, "transactional.id": "x",
                                  "reconnect.backoff.max.ms": 200, "error_cb": quiet,
                                  "log_level": 0})
                    p.init_transactions(30)
                p.begin_transaction()
                for partition in (0, 1):
                    p.produce("t", value=b"%d" % number, partition=partition)
                p.commit_transaction(30)
                committed.append(number)
                number += 1
            except KafkaException as error:
                if not error.args[0].txn_requires_abort() or not aborted(p):
                    p = None
                    number += 1  # not known whether it is in: the next try has its own number
        thread.join()
        left = [int(v) for v in read(broker.address, "t", 0)]
        right = [int(v) for v in read(broker.address, "t", 1)]
        assert left == right and len(set(left)) == len(left)
        assert set(committed) <= set(left), set(committed) - set(left)
        broker.stop()


def aborted(p):
    """False where the broker was killed amid the abort and the producer is of no more use."""
    try:
        p.abort_transaction(30)
        return True
    except KafkaException:
        return False


@check
def one_folder_serves_one_broker():
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker("--data", folder)
        other = subprocess.run([ARGS.broker, "broker", "--data", folder], capture_output=True,
                               timeout=60)
        assert other.returncode == 74 and b"in use" in other.stderr, other
        broker.stop()


@check
def a_plan_is_carried_out_and_read_again():
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as plan:
        plan.write("Produce topic=t error TOPIC_AUTHORIZATION_FAILED\n")
        plan.flush()
        broker = Broker("--inject", plan.name)
        broker.topic("t")
        errors = []

        def send():
            p = Producer({"bootstrap.servers": broker.address, "error_cb": quiet})
            p.produce("t", value=b"x", on_delivery=lambda e, _m: errors.append(e))
            assert p.flush(30) == 0
            return errors[-1]

        send()
        assert errors[-1].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED, errors
        plan.seek(0)
        plan.truncate()
        plan.write("Fetch topic=none drop\n")
        plan.flush()
        os.kill(broker.process.pid, signal.SIGHUP)
        deadline = time.time() + 30
        while send() is not None:
            assert time.time() < deadline, errors
        broker.stop()


@check
def lost_connections_and_answers_are_survived():
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as plan:
        plan.write("Produce every=3 close-after\nProduce every=5 close\n"
                   "AddPartitionsToTxn every=2 error CONCURRENT_TRANSACTIONS\n"
                   "EndTxn nth=2 error COORDINATOR_NOT_AVAILABLE\nEndTxn nth=3 close-after\n"
                   "TxnOffsetCommit nth=1 error COORDINATOR_LOAD_IN_PROGRESS\n"
                   "InitProducerId nth=1 error NOT_COORDINATOR\n")
        plan.flush()
        broker = Broker("--inject", plan.name)
        broker.topic("t")
        p = Producer({"bootstrap.servers": broker.address, "transactional.id": "x", "linger.ms": 0,
                      "reconnect.backoff.max.ms": 100, "error_cb": quiet, "log_level": 0})
        p.init_transactions(30)
        for i in range(20):
            p.begin_transaction()
            p.produce("t", value=b"%d" % i, partition=0)
            p.commit_transaction(30)
        assert read(broker.address, "t", 0) == [b"%d" % i for i in range(20)]
        broker.stop()


@check
def bytes_that_are_no_request_end_the_connection_only():
    broker = Broker("--auto-create")
    chance = random.Random(5)
    for length in (1, 4, 7, 100, 5000):
        s = socket.create_connection(("127.0.0.1", broker.port))
        try:
            s.sendall(chance.randbytes(length))
            s.shutdown(socket.SHUT_WR)
            s.settimeout(5)
            while s.recv(4096):
                pass
        except ConnectionError:
            pass
        s.close()
    broker.topic("t")
    broker.stop()


@check
def usage_is_told():
    def run(*arguments):
        return subprocess.run([ARGS.broker, "broker", *arguments], capture_output=True, timeout=60)

    assert run("--help").returncode == 0 and b"never for production" in run("--help").stdout
    assert run("--port", "99999").returncode == 64
    assert run("--no-such-flag").returncode == 64
    assert run("--inject", "/no/such/file").returncode == 66
    with tempfile.NamedTemporaryFile("w") as plan:
        plan.write("bad\n")
        plan.flush()
        assert run("--inject", plan.name).returncode == 78
    broker = Broker()
    assert run("--port", str(broker.port)).returncode == 69
    broker.stop()


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--broker", required=True)
    parser.add_argument("--only", default="")
    ARGS = parser.parse_args()
    passed = failed = 0
    for function in CHECKS:
        if ARGS.only not in function.__name__:
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
        for broker in Broker.all:
            if broker.process.poll() is None:
                broker.kill()
        Broker.all.clear()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

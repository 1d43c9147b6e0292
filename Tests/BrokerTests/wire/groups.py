"""Groups: rebalances, static members, commits."""
import os
import signal
import subprocess
import sys
import threading
import time

from confluent_kafka import KafkaError, TopicPartition

from wire.clients import admin, check, consumer, send, SETTINGS, topic, until


class Member:
    """A consumer on a thread of its own, polled until it is stopped."""

    def __init__(self, group, name, strategy, **config):
        self.revoked_all_at_once = False
        self.consumer = consumer(group, partition_assignment_strategy=strategy, **config)
        self.assigned = set()
        self.lost = 0
        self.running = True
        self.frozen = False
        self.leave = True
        self.consumer.subscribe([name], on_assign=self.on_assign, on_revoke=self.on_revoke)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def on_assign(self, _consumer, _partitions):
        pass

    def on_revoke(self, _consumer, partitions):
        self.lost += len(partitions)

    def run(self):
        while self.running:
            self.consumer.poll(0.1)
            self.assigned = {p.partition for p in self.consumer.assignment()}

    def stop(self):
        self.running = False
        self.thread.join(20)
        self.consumer.close()
        self.assigned = set()


def covers(members, count):
    parts = [m.assigned for m in members]
    return all(parts) and sum(map(len, parts)) == count and len(set().union(*parts)) == count


def rebalances(strategy):
    t = topic(partitions=6)
    group = "g-" + t
    members = []
    dying = None
    try:
        for count in (1, 2, 3):
            members.append(Member(group, t, strategy))
            until(lambda: covers(members, 6), 40, f"{count} members sharing")
        leaver = members.pop()
        before = [set(m.assigned) for m in members]
        lost = [m.lost for m in members]
        leaver.stop()
        until(lambda: covers(members, 6), 40, "two members sharing after one left")
        if strategy == "cooperative-sticky":
            # Those that stay keep what they had: nothing is given up when someone leaves.
            for member, had, count in zip(members, before, lost):
                assert had <= member.assigned and member.lost == count
        dying = start_member_process(group, t, strategy)
        until(lambda: sum(len(m.assigned) for m in members) == 4, 40, "three members sharing")
        os.kill(dying.pid, signal.SIGKILL)
        until(lambda: covers(members, 6), 40, "two members sharing after one died")
    finally:
        if dying:
            dying.kill()
            dying.wait()
        for member in members:
            member.stop()


def start_member_process(group, name, strategy):
    code = (
        "import sys; sys.argv=['x']; from confluent_kafka import Consumer\n"
        f"c=Consumer({{'bootstrap.servers':'{SETTINGS.bootstrap}','group.id':'{group}',"
        f"'partition.assignment.strategy':'{strategy}','session.timeout.ms':6000,"
        "'heartbeat.interval.ms':500})\n"
        f"c.subscribe(['{name}'])\n"
        "while True: c.poll(0.1)\n")
    return subprocess.Popen([sys.executable, "-c", code])


@check
def range_rebalances_with_three_members():
    rebalances("range")


@check
def cooperative_rebalances_with_three_members():
    rebalances("cooperative-sticky")


@check
def a_static_member_returns_without_a_rebalance():
    t = topic(partitions=4)
    group = "g-" + t
    # Longer than it takes to come back on a machine with other work.
    stays = {"group_instance_id": "b", "session_timeout_ms": 30_000}
    a = Member(group, t, "range", group_instance_id="a", session_timeout_ms=30_000)
    b = Member(group, t, "range", **stays)
    until(lambda: covers([a, b], 4), 40, "two static members")
    had = set(b.assigned)
    lost = a.lost
    b.running = False
    b.thread.join()
    b.consumer.close()  # static members do not leave
    b = Member(group, t, "range", **stays)
    until(lambda: covers([a, b], 4), 40, "the static member back")
    assert b.assigned == had and a.lost == lost
    a.stop()
    b.stop()


@check
def a_static_member_fences_its_double():
    t = topic()
    group = "g-" + t
    errors = []
    first = consumer(group, group_instance_id="same", error_cb=errors.append)
    first.subscribe([t])
    until(lambda: first.poll(0.1) or first.assignment(), 30)
    second = consumer(group, group_instance_id="same")
    second.subscribe([t])
    until(lambda: second.poll(0.1) or second.assignment(), 30)

    def fenced():
        m = first.poll(0.1)
        codes = [e.code() for e in errors] + ([m.error().code()] if m and m.error() else [])
        return KafkaError.FENCED_INSTANCE_ID in codes or KafkaError._FATAL in codes

    until(fenced, 30, "fencing of the first")
    first.close()
    second.close()


@check
def commits_are_kept_for_the_next_member():
    t = topic()
    send(t, [b"%d" % i for i in range(10)])
    group = "g-" + t
    c = consumer(group)
    c.subscribe([t])
    until(lambda: c.poll(0.2) is not None, 30)
    c.commit(offsets=[TopicPartition(t, 0, 6)], asynchronous=False)
    c.close()
    c = consumer(group)
    c.subscribe([t])
    first = None
    deadline = time.time() + 30
    while first is None and time.time() < deadline:
        first = c.poll(0.2)
    assert first.value() == b"6"
    c.close()
    assert any(g.id == group for g in admin().list_groups(timeout=10))

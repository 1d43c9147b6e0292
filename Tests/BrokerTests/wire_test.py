#!/usr/bin/env python3
"""Checks of the test broker by real clients: confluent-kafka (librdkafka) and kcat.

Each check has the result that Apache Kafka gives, so the script also runs against Kafka itself:

    wire_test.py --broker .build/release/sendgate          starts a broker of its own
    wire_test.py --bootstrap 127.0.0.1:9092                uses one that runs

Run it with the Python of a virtual environment that has confluent-kafka; its version is the
librdkafka under test. `--only NAME` runs the checks whose names contain NAME.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import uuid

import confluent_kafka as ck
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

CHECKS = []
BOOTSTRAP = ""
ADMIN = None
ARGS = None


def check(function):
    CHECKS.append(function)
    return function


# MARK: helpers


def admin():
    # One for all: a client that goes out of scope takes its unanswered requests with it.
    global ADMIN
    ADMIN = ADMIN or AdminClient({"bootstrap.servers": BOOTSTRAP})
    return ADMIN


def topic(partitions=1, **config):
    name = "t-" + uuid.uuid4().hex[:12]
    config = {key.replace("_", "."): str(value) for key, value in config.items()}
    for future in admin().create_topics([NewTopic(name, partitions, 1, config=config)]).values():
        future.result(20)
    # Kafka answers before every broker knows of the topic.
    deadline = time.time() + 20
    while time.time() < deadline:
        known = admin().list_topics(name, timeout=5).topics[name]
        if known.error is None and len(known.partitions) == partitions:
            return name
        time.sleep(0.1)
    raise AssertionError("topic does not appear")


def producer(**config):
    settings = {"bootstrap.servers": BOOTSTRAP, "linger.ms": 5}
    settings.update({key.replace("_", "."): value for key, value in config.items()})
    return Producer(settings)


def consumer(group=None, **config):
    settings = {
        "bootstrap.servers": BOOTSTRAP,
        "group.id": group or "g-" + uuid.uuid4().hex[:12],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 500,
    }
    settings.update(
        {key if key == "error_cb" else key.replace("_", "."): value
         for key, value in config.items()})
    return Consumer(settings)


def send(name, values, partition=0, **config):
    p = producer(**config)
    errors = []

    def done(error, _message):
        if error:
            errors.append(error)

    for value in values:
        p.produce(name, value=value, partition=partition, on_delivery=done)
    assert p.flush(20) == 0
    assert not errors, errors


def read(name, partition=0, count=None, seconds=60, offset=0, **config):
    """Reads a partition to its end, or until `count` records came."""
    c = consumer(enable_partition_eof=True, **config)
    c.assign([TopicPartition(name, partition, offset)])
    found = []
    deadline = time.time() + seconds
    while count is None or len(found) < count:
        message = c.poll(0.2)
        if message is None:
            assert time.time() < deadline, f"{len(found)} records and no end within {seconds} s"
        elif not message.error():
            found.append(message)
        elif message.error().code() != KafkaError._PARTITION_EOF:
            raise KafkaException(message.error())
        elif count is None:
            break
    c.close()
    return found


def values(messages):
    return [message.value() for message in messages]


def expect_error(code, action):
    try:
        action()
    except KafkaException as error:
        assert error.args[0].code() == code, f"{error.args[0]} instead of {code}"
        return error.args[0]
    raise AssertionError(f"no error where {code} was due")


def until(condition, seconds=30, what="condition"):
    deadline = time.time() + seconds
    while time.time() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come true in {seconds} s")


def transactional(name, timeout_ms=60000):
    p = producer(transactional_id=name, transaction_timeout_ms=timeout_ms)
    p.init_transactions(20)
    return p


# MARK: records


@check
def produce_and_consume_in_order():
    t = topic()
    sent = [b"%d" % i for i in range(5000)]
    send(t, sent)
    messages = read(t)
    assert values(messages) == sent
    assert [m.offset() for m in messages] == list(range(5000))


@check
def every_compression_passes():
    # What librdkafka put on the wire is asked of it: to a broker it does not trust with a codec it
    # sends uncompressed, without a word.
    sent = [b"value %d " % i * 100 for i in range(1000)]
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"]:
        t = topic()
        told = {"topics": {}}
        settings = {"bootstrap.servers": BOOTSTRAP, "linger.ms": 50, "compression.type": codec}
        told_by = {"statistics.interval.ms": 10, "stats_cb": lambda text: told.update(json.loads(text))}
        p = Producer({**settings, **told_by})
        for value in sent:
            p.produce(t, value=value)
        assert p.flush(20) == 0
        deadline = time.time() + 20
        while told["topics"].get(t, {"partitions": {}})["partitions"].get("0", {"txmsgs": 0})["txmsgs"] < len(sent):
            assert time.time() < deadline, f"{codec}: {told}"
            p.poll(0.02)
        assert values(read(t)) == sent, codec
        wire, raw = sum(broker["txbytes"] for broker in told["brokers"].values()), sum(map(len, sent))
        assert wire > raw if codec == "none" else wire < raw / 2, f"{codec}: {wire} bytes for {raw}"


@check
def headers_null_keys_and_null_values():
    t = topic()
    p = producer()
    p.produce(t, key=None, value=None)
    p.produce(t, key=b"", value=b"")
    p.produce(t, key=b"k", value=b"v", headers=[("a", b"1"), ("b", None), ("a", b"")])
    assert p.flush(20) == 0
    first, second, third = read(t)
    assert (first.key(), first.value(), first.headers()) == (None, None, None)
    assert (second.key(), second.value()) == (b"", b"")
    assert third.headers() == [("a", b"1"), ("b", None), ("a", b"")]


@check
def timestamps_are_kept_or_stamped():
    t = topic()
    p = producer()
    p.produce(t, value=b"x", timestamp=1234567890123)
    assert p.flush(20) == 0
    assert read(t)[0].timestamp() == (ck.TIMESTAMP_CREATE_TIME, 1234567890123)
    t = topic(message_timestamp_type="LogAppendTime")
    before = time.time() * 1000 - 1000
    p.produce(t, value=b"x", timestamp=1234567890123)
    assert p.flush(20) == 0
    kind, stamp = read(t)[0].timestamp()
    assert kind == ck.TIMESTAMP_LOG_APPEND_TIME and before <= stamp <= time.time() * 1000 + 1000


@check
def offsets_by_time():
    for codec in ["none", "lz4"]:
        t = topic()
        base = int(time.time() * 1000) - 100000
        p = producer(compression_type=codec)
        for i in range(100):
            p.produce(t, value=b"x", timestamp=base + i * 10)
        assert p.flush(20) == 0
        c = consumer()

        def at(ms):
            return c.offsets_for_times([TopicPartition(t, 0, ms)], timeout=10)[0].offset

        assert at(base) == 0
        assert at(base + 500) == 50
        assert at(base + 501) == 51
        assert at(base + 990) == 99
        # The client turns "none" into the end of the partition.
        assert at(base + 991) in (-1, ck.OFFSET_END)
        assert c.get_watermark_offsets(TopicPartition(t, 0), timeout=10) == (0, 100)
        c.close()


@check
def offset_out_of_range_resets():
    t = topic()
    send(t, [b"a", b"b"])
    messages = read(t, offset=77)
    assert values(messages) == [b"a", b"b"]


@check
def kcat_produces_and_consumes():
    t = topic()
    sent = subprocess.run(
        [ARGS.kcat, "-b", BOOTSTRAP, "-t", t, "-P", "-K:", "-Z"],
        input=b"k1:v1\nk2:\n", timeout=30)
    assert sent.returncode == 0
    got = subprocess.run(
        [ARGS.kcat, "-b", BOOTSTRAP, "-t", t, "-C", "-e", "-q", "-f", "%o %k %S %s\\n"],
        capture_output=True, timeout=30)
    assert got.stdout == b"0 k1 2 v1\n1 k2 -1 \n", got.stdout


@check
def kcat_queries_offsets_and_metadata():
    t = topic(partitions=3)
    send(t, [b"x"] * 7, partition=2)
    got = subprocess.run(
        [ARGS.kcat, "-b", BOOTSTRAP, "-Q", "-t", f"{t}:2:-1"], capture_output=True, timeout=30)
    assert got.stdout.split() == [t.encode(), b"[2]", b"offset", b"7"], got.stdout
    got = subprocess.run(
        [ARGS.kcat, "-b", BOOTSTRAP, "-L", "-t", t], capture_output=True, timeout=30)
    assert b"with 3 partitions" in got.stdout


@check
def an_unknown_topic_is_not_made():
    name = "missing-" + uuid.uuid4().hex[:8]
    found = admin().list_topics(name, timeout=10).topics[name]
    if found.error is None:
        raise AssertionError("auto.create.topics.enable must be off for these checks")
    assert found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    errors = []
    p = producer(message_timeout_ms=3000, topic_metadata_propagation_max_ms=1000)
    p.produce(name, value=b"x", on_delivery=lambda error, _m: errors.append(error))
    p.flush(10)
    assert errors and errors[0] is not None


# MARK: sizes and topics


@check
def too_large_by_the_topics_setting():
    t = topic(max_message_bytes=2000)
    errors = []
    p = producer()
    p.produce(t, value=b"x" * 3000, on_delivery=lambda error, _m: errors.append(error))
    p.flush(20)
    assert errors[0].code() == KafkaError.MSG_SIZE_TOO_LARGE, errors
    send(t, [b"x" * 1000])
    assert len(read(t)) == 1


@check
def too_large_by_the_brokers_default():
    t = topic()
    errors = []
    p = producer(message_max_bytes=4000000)
    p.produce(t, value=b"x" * 1100000, on_delivery=lambda error, _m: errors.append(error))
    p.flush(20)
    assert errors[0].code() == KafkaError.MSG_SIZE_TOO_LARGE, errors


@check
def fetch_limits_do_not_stop_a_large_record():
    t = topic()
    send(t, [b"x" * 500000, b"y" * 500000], linger_ms=0, batch_num_messages=1)
    messages = read(t, fetch_message_max_bytes=1000, fetch_max_bytes=600000,
                    message_max_bytes=600000)
    assert [m.value()[:1] for m in messages] == [b"x", b"y"]


@check
def more_partitions():
    t = topic(partitions=1)
    for future in admin().create_partitions([NewPartitions(t, 4)]).values():
        future.result(20)
    until(lambda: len(admin().list_topics(t, timeout=5).topics[t].partitions) == 4)
    send(t, [b"x"], partition=3)
    assert values(read(t, partition=3)) == [b"x"]
    for count in (4, 2):
        for future in admin().create_partitions([NewPartitions(t, count)]).values():
            expect_error(KafkaError.INVALID_PARTITIONS, lambda: future.result(20))


@check
def topics_are_made_once_and_deleted():
    t = topic()
    for future in admin().create_topics([NewTopic(t, 1, 1)]).values():
        expect_error(KafkaError.TOPIC_ALREADY_EXISTS, lambda: future.result(20))
    for future in admin().create_topics([NewTopic("no/slash", 1, 1)]).values():
        expect_error(KafkaError.TOPIC_EXCEPTION, lambda: future.result(20))
    for future in admin().create_topics(
            [NewTopic("x" + t, 1, 1, config={"no.such": "1"})]).values():
        expect_error(KafkaError.INVALID_CONFIG, lambda: future.result(20))
    for future in admin().delete_topics([t]).values():
        future.result(20)
    until(lambda: t not in admin().list_topics(timeout=5).topics)
    for future in admin().delete_topics([t]).values():
        expect_error(KafkaError.UNKNOWN_TOPIC_OR_PART, lambda: future.result(20))


@check
def settings_are_told_and_changed():
    t = topic(retention_ms=1000000)
    resource = ConfigResource(ConfigResource.Type.TOPIC, t)
    config = list(admin().describe_configs([resource]).values())[0].result(20)
    assert config["retention.ms"].value == "1000000"
    assert config["cleanup.policy"].value == "delete"
    resource = ConfigResource(ConfigResource.Type.TOPIC, t, set_config={"retention.ms": "7"})
    list(admin().alter_configs([resource]).values())[0].result(20)
    resource = ConfigResource(ConfigResource.Type.TOPIC, t)

    def is_seven():
        found = list(admin().describe_configs([resource]).values())[0].result(20)
        return found["retention.ms"].value == "7"

    until(is_seven)


# MARK: compaction


def compacted(**config):
    settings = dict(cleanup_policy="compact", segment_ms=500, min_cleanable_dirty_ratio=0.01,
                    segment_bytes=1048576, delete_retention_ms=0)
    settings.update(config)
    return topic(**settings)


@check
def compaction_keeps_the_last_of_each_key():
    t = compacted(delete_retention_ms=100000000)
    p = producer(compression_type="lz4")
    for round_ in range(20):
        for key in range(50):
            p.produce(t, key=b"%d" % key, value=b"%d" % round_)
    p.produce(t, key=b"7", value=None)
    assert p.flush(20) == 0
    time.sleep(0.7)
    send_keyed(t, b"last", b"x")
    until(lambda: len(read(t)) == 51, 90, "compaction")
    found = {m.key(): m.value() for m in read(t)}
    assert found[b"7"] is None and found[b"8"] == b"19" and len(found) == 51
    offsets = [m.offset() for m in read(t)]
    assert offsets == sorted(offsets) and offsets[-1] == 1001


def send_keyed(name, key, value):
    p = producer()
    p.produce(name, key=key, value=value)
    assert p.flush(20) == 0


@check
def tombstones_go_in_the_end():
    t = compacted()
    send_keyed(t, b"a", b"1")
    send_keyed(t, b"a", None)
    for i in range(3):
        time.sleep(0.7)
        send_keyed(t, b"b%d" % i, b"x")

    def gone():
        time.sleep(0.7)
        send_keyed(t, b"last", b"x")
        return b"a" not in [m.key() for m in read(t)]

    until(gone, 90, "removal of a tombstone")


@check
def a_compacted_topic_takes_no_record_without_key():
    t = compacted()
    errors = []
    p = producer()
    p.produce(t, value=b"x", on_delivery=lambda error, _m: errors.append(error))
    p.flush(20)
    assert errors[0] is not None and errors[0].code() == 87, errors


# MARK: transactions


@check
def a_transaction_is_seen_when_committed():
    t = topic()
    p = transactional(t)
    p.begin_transaction()
    p.produce(t, value=b"a", partition=0)
    p.commit_transaction(20)
    p.begin_transaction()
    p.produce(t, value=b"b", partition=0)
    p.commit_transaction(20)
    messages = read(t, isolation_level="read_committed", count=2)
    assert values(messages) == [b"a", b"b"]
    # Offsets 1 and 3 are the commit markers.
    assert [m.offset() for m in messages] == [0, 2]
    assert consumer().get_watermark_offsets(TopicPartition(t, 0), timeout=10) == (0, 4)


@check
def an_aborted_transaction_is_not_seen():
    t = topic()
    p = transactional(t)
    p.begin_transaction()
    for i in range(100):
        p.produce(t, value=b"bad", partition=0)
    assert p.flush(20) == 0
    p.abort_transaction(20)
    p.begin_transaction()
    p.produce(t, value=b"good", partition=0)
    p.commit_transaction(20)
    until(lambda: values(read(t, isolation_level="read_committed")) == [b"good"], 20)
    assert len(read(t, isolation_level="read_uncommitted")) == 101


@check
def an_open_transaction_holds_readers_back():
    t = topic()
    send(t, [b"before"])
    p = transactional(t)
    p.begin_transaction()
    p.produce(t, value=b"open", partition=0)
    assert p.flush(20) == 0
    send(t, [b"after"])
    assert values(read(t, isolation_level="read_committed")) == [b"before"]
    assert values(read(t, isolation_level="read_uncommitted")) == [b"before", b"open", b"after"]
    c = consumer(isolation_level="read_committed")
    assert c.get_watermark_offsets(TopicPartition(t, 0), timeout=10) == (0, 1)
    c.close()
    c = consumer(isolation_level="read_uncommitted")
    assert c.get_watermark_offsets(TopicPartition(t, 0), timeout=10) == (0, 3)
    c.close()
    p.commit_transaction(20)
    messages = read(t, isolation_level="read_committed", count=3)
    assert values(messages) == [b"before", b"open", b"after"]


@check
def a_successor_aborts_and_fences():
    t = topic()
    old = transactional(t)
    old.begin_transaction()
    old.produce(t, value=b"old", partition=0)
    assert old.flush(20) == 0
    new = transactional(t)
    new.begin_transaction()
    new.produce(t, value=b"new", partition=0)
    new.commit_transaction(20)
    # Readers go on: the old transaction is not open any more.
    until(lambda: values(read(t, isolation_level="read_committed")) == [b"new"], 20)
    try:
        old.produce(t, value=b"zombie", partition=0)
        old.commit_transaction(20)
        raise AssertionError("the old producer was not fenced")
    except KafkaException as error:
        assert error.args[0].fatal(), error
        assert error.args[0].code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
    assert values(read(t, isolation_level="read_committed")) == [b"new"]


@check
def a_transaction_times_out():
    t = topic()
    # Not over before the next lines are through on a machine with other work.
    p = transactional(t, timeout_ms=8000)
    p.begin_transaction()
    p.produce(t, value=b"slow", partition=0)
    assert p.flush(20) == 0
    send(t, [b"other"])
    assert values(read(t, isolation_level="read_committed")) == []
    # Kafka looks for such transactions every ten seconds.
    until(lambda: values(read(t, isolation_level="read_committed")) == [b"other"], 60)
    try:
        p.commit_transaction(20)
        raise AssertionError("a transaction past its time was committed")
    except KafkaException as error:
        assert error.args[0].fatal() or error.args[0].txn_requires_abort(), error
    assert values(read(t, isolation_level="read_committed")) == [b"other"]


@check
def a_transaction_timeout_too_long_is_refused():
    p = producer(transactional_id="too-long", transaction_timeout_ms=1000000)
    expect_error(KafkaError.INVALID_TRANSACTION_TIMEOUT, lambda: p.init_transactions(20))


@check
def offsets_are_seen_only_after_commit():
    t = topic()
    send(t, [b"x"] * 10)
    group = "g-" + t
    c = consumer(group)
    c.subscribe([t])
    until(lambda: c.poll(0.2) is not None, 30, "first record")
    place = [TopicPartition(t, 0, 5)]

    def committed():
        # Without stable offsets: what was committed last.
        return consumer(group, isolation_level="read_uncommitted").committed(place, 10)[0].offset

    p = transactional(t)
    p.begin_transaction()
    p.send_offsets_to_transaction(place, c.consumer_group_metadata(), 20)
    # A committed reader asks for stable offsets and is told to come again until the end.
    expect_error(KafkaError._TIMED_OUT, lambda: consumer(
        group, isolation_level="read_committed").committed(place, 2))
    p.commit_transaction(20)
    until(lambda: committed() == 5)

    place = [TopicPartition(t, 0, 9)]
    p.begin_transaction()
    p.send_offsets_to_transaction(place, c.consumer_group_metadata(), 20)
    p.abort_transaction(20)
    time.sleep(0.3)
    assert committed() == 5
    c.close()


@check
def a_stale_generation_is_refused():
    t = topic(partitions=2)
    send(t, [b"x"] * 10)
    group = "g-" + t
    c = consumer(group)
    c.subscribe([t])
    until(lambda: c.poll(0.2) is not None, 30, "first record")
    stale = c.consumer_group_metadata()
    other = consumer(group)
    other.subscribe([t])
    until(lambda: [other.poll(0.2), c.poll(0.2)] and len(other.assignment()) == 1, 30)
    p = transactional(t)
    p.begin_transaction()
    try:
        p.send_offsets_to_transaction([TopicPartition(t, 0, 5)], stale, 20)
        raise AssertionError("offsets of an old generation were taken")
    except KafkaException as error:
        assert error.args[0].code() == KafkaError.ILLEGAL_GENERATION, error
        assert error.args[0].txn_requires_abort(), error
    p.abort_transaction(20)
    c.close()
    other.close()


@check
def a_member_that_left_is_unknown_in_a_transaction():
    t = topic()
    send(t, [b"x"])
    group = "g-" + t
    c = consumer(group)
    c.subscribe([t])
    until(lambda: c.poll(0.2) is not None, 30, "first record")
    gone = c.consumer_group_metadata()
    c.close()
    p = transactional(t)
    p.begin_transaction()
    expect_error(KafkaError.UNKNOWN_MEMBER_ID, lambda: p.send_offsets_to_transaction(
        [TopicPartition(t, 0, 1)], gone, 20))
    p.abort_transaction(20)


@check
def consume_transform_produce_is_exact():
    """Two workers come and go; every input is in the output once."""
    source, target = topic(partitions=4), topic(partitions=2)
    total = 2000
    p = producer()
    for i in range(total):
        p.produce(source, value=b"%d" % i, partition=i % 4)
    assert p.flush(20) == 0
    group = "g-" + source
    stop = threading.Event()

    def worker(name, most):
        c = consumer(group, isolation_level="read_committed")
        c.subscribe([source])
        p = transactional(name)
        done = 0
        while not stop.is_set() and done < most:
            batch = c.consume(100, 0.3)
            batch = [m for m in batch if m.error() is None]
            if not batch:
                continue
            p.begin_transaction()
            try:
                for m in batch:
                    p.produce(target, value=m.value())
                ends = {}
                for m in batch:
                    ends[m.partition()] = m.offset() + 1
                p.send_offsets_to_transaction(
                    [TopicPartition(source, i, o) for i, o in ends.items()],
                    c.consumer_group_metadata(), 20)
                p.commit_transaction(20)
                done += len(batch)
            except KafkaException as error:
                if error.args[0].fatal():
                    break
                p.abort_transaction(20)
                for place in c.committed(c.assignment(), 20):
                    if place.offset < 0:
                        place.offset = 0
                    c.seek(place)
        c.close()

    threads = [threading.Thread(target=worker, args=(f"{source}-{i}", [300, 10**9, 10**9][i]))
               for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        def all_there():
            return sum(len(read(target, partition=i, isolation_level="read_committed"))
                       for i in range(2)) >= total
        until(all_there, 120, "all records in the target")
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    found = [v for i in range(2)
             for v in values(read(target, partition=i, isolation_level="read_committed"))]
    assert sorted(found, key=int) == [b"%d" % i for i in range(total)]


# MARK: groups


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
        f"c=Consumer({{'bootstrap.servers':'{BOOTSTRAP}','group.id':'{group}',"
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


# MARK: idempotence


@check
def an_idempotent_producer_writes_each_once():
    t = topic()
    send(t, [b"%d" % i for i in range(2000)], enable_idempotence=True, linger_ms=0)
    assert values(read(t)) == [b"%d" % i for i in range(2000)]


def main():
    global BOOTSTRAP, ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--broker", help="the sendgate binary")
    parser.add_argument("--bootstrap", help="HOST:PORT of a running broker instead")
    parser.add_argument("--kcat", default="kcat")
    parser.add_argument("--only", default="")
    ARGS = parser.parse_args()
    process = None
    if ARGS.bootstrap:
        BOOTSTRAP = ARGS.bootstrap
    else:
        process = subprocess.Popen(
            [ARGS.broker, "broker", "--port", "0", "--log-check-ms", "200"],
            stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        BOOTSTRAP = "127.0.0.1:" + line.strip().rsplit(":", 1)[1]
    print(f"librdkafka {ck.libversion()[0]}, broker {BOOTSTRAP}", flush=True)
    passed = failed = 0
    try:
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

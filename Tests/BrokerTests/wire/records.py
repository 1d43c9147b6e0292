"""Records in and out: order, compression, headers, timestamps, offsets, one producer that repeats."""
import json
import subprocess
import time
import uuid

import confluent_kafka as ck
from confluent_kafka import KafkaError, Producer, TopicPartition

from wire.clients import admin, check, consumer, producer, read, send, SETTINGS, topic, values


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
        settings = {"bootstrap.servers": SETTINGS.bootstrap, "linger.ms": 50, "compression.type": codec}
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
        [SETTINGS.kcat, "-b", SETTINGS.bootstrap, "-t", t, "-P", "-K:", "-Z"],
        input=b"k1:v1\nk2:\n", timeout=30)
    assert sent.returncode == 0
    got = subprocess.run(
        [SETTINGS.kcat, "-b", SETTINGS.bootstrap, "-t", t, "-C", "-e", "-q", "-f", "%o %k %S %s\\n"],
        capture_output=True, timeout=30)
    assert got.stdout == b"0 k1 2 v1\n1 k2 -1 \n", got.stdout


@check
def kcat_queries_offsets_and_metadata():
    t = topic(partitions=3)
    send(t, [b"x"] * 7, partition=2)
    got = subprocess.run(
        [SETTINGS.kcat, "-b", SETTINGS.bootstrap, "-Q", "-t", f"{t}:2:-1"], capture_output=True, timeout=30)
    assert got.stdout.split() == [t.encode(), b"[2]", b"offset", b"7"], got.stdout
    got = subprocess.run(
        [SETTINGS.kcat, "-b", SETTINGS.bootstrap, "-L", "-t", t], capture_output=True, timeout=30)
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


@check
def an_idempotent_producer_writes_each_once():
    t = topic()
    send(t, [b"%d" % i for i in range(2000)], enable_idempotence=True, linger_ms=0)
    assert values(read(t)) == [b"%d" % i for i in range(2000)]

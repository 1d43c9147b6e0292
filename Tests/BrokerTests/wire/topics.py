"""Sizes, settings and counts of topics, and compaction."""
import time

from confluent_kafka import KafkaError
from confluent_kafka.admin import ConfigResource, NewPartitions, NewTopic

from wire.clients import admin, check, expect_error, producer, read, send, topic, until, values


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

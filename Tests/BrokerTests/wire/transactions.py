"""Transactions: what is seen when, fencing, time-outs, offsets within."""
import threading
import time

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from wire.clients import (
    check, consumer, expect_error, producer, read, send, topic, transactional, until, values)


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

"""What the checks share: clients of the broker under test, and the list of checks."""
import time
import uuid

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic


class Settings:
    bootstrap = ""
    kcat = "kcat"


SETTINGS = Settings()
CHECKS = []
ADMIN = None


def check(function):
    CHECKS.append(function)
    return function


def admin():
    # One for all: a client that goes out of scope takes its unanswered requests with it.
    global ADMIN
    ADMIN = ADMIN or AdminClient({"bootstrap.servers": SETTINGS.bootstrap})
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
    settings = {"bootstrap.servers": SETTINGS.bootstrap, "linger.ms": 5}
    settings.update({key.replace("_", "."): value for key, value in config.items()})
    return Producer(settings)


def consumer(group=None, **config):
    settings = {
        "bootstrap.servers": SETTINGS.bootstrap,
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

"""A reader of topics as a dispatcher reads them: `read_committed`, and to the end."""

import json
import time
import uuid

from confluent_kafka import Consumer, KafkaError, TopicPartition

from harness.checking import CheckFailed, until


class Output:
    """One record of an output topic."""

    __slots__ = ("topic", "partition", "offset", "key", "value", "headers", "timestamp", "_record")

    def __init__(self, message, topic):
        self.topic = topic
        self.partition, self.offset = message.partition(), message.offset()
        self.key, self.value = message.key(), message.value()
        self.headers = message.headers() or []
        self.timestamp = message.timestamp()[1]
        self._record = None

    @property
    def record(self):
        if self._record is None:
            self._record = json.loads(self.value)
        return self._record

    def header(self, name):
        """The one header of that name; None where there is none, an error where there are two."""
        found = [value for key, value in self.headers if key == name]
        if len(found) > 1:
            raise CheckFailed(f"header {name} occurs {len(found)} times in {self}")
        return found[0] if found else None

    def __repr__(self):
        return f"{self.topic} {self.partition}@{self.offset} key={self.key!r} {self.value!r:.1500}"


class Reader:
    """Reads topics from their beginning. `topics`: short name -> topic."""

    def __init__(self, bootstrap, topics, isolation="read_committed", **properties):
        self.names = {topic: name for name, topic in topics.items()}
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"reader-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,
                "topic.metadata.refresh.interval.ms": 2000,
                "log_level": 0,
                **properties,
            }
        )
        self.reached = {}
        self.read = []
        partitions = []
        for topic in topics.values():
            metadata = until(f"topic {topic} is known", lambda t=topic: self._metadata(t), 20)
            partitions += [TopicPartition(topic, number, 0) for number in metadata.partitions]
        self.partitions = partitions
        self.consumer.assign(partitions)

    def _metadata(self, topic):
        found = self.consumer.list_topics(topic, timeout=10).topics[topic]
        return found if found.error is None and found.partitions else None

    def step(self, seconds=0.2, count=10_000):
        """Takes what has come."""
        for message in self.consumer.consume(count, seconds):
            place = (message.topic(), message.partition())
            if message.error() is None:
                self.reached[place] = message.offset() + 1
                self.keep(message)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                self.reached[place] = message.offset()
            elif not message.error().retriable() and message.error().code() not in LOST_FOR_NOW:
                raise CheckFailed(f"the reader of {message.topic()} failed: {message.error()}")

    def keep(self, message):
        self.read.append(Output(message, self.names[message.topic()]))

    def until(self, what, condition, seconds=30):
        """Reads until `condition(outputs read)` is true; returns it."""
        deadline = time.monotonic() + seconds
        while True:
            found = condition(self.read)
            if found:
                return found
            if time.monotonic() > deadline:
                seen = "\n".join(f"   {output!r:.400}" for output in self.read[-8:])
                raise CheckFailed(f"not within {seconds} s: {what}; {len(self.read)} outputs read, the last:\n{seen}")
            self.step(0.05)

    def count(self, number, seconds=30):
        """Reads until there are `number` outputs; returns all of them, which may be more."""
        self.until(f"{number} outputs", lambda read: len(read) >= number, seconds)
        return self.read

    def to_end(self, seconds=60):
        """Reads all that is committed by now; returns everything read."""
        ends = {}
        for partition in self.partitions:
            low, high = self.consumer.get_watermark_offsets(partition, timeout=20)
            ends[(partition.topic, partition.partition)] = (low, high)

        def at_end():
            self.step(0.05)
            return all(self.reached.get(place, low) >= high for place, (low, high) in ends.items())

        until("the reader is at the end", at_end, seconds, every=0)
        return self.read

    def close(self):
        self.consumer.close()


# A broker that is being started again.
LOST_FOR_NOW = frozenset(
    {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE, KafkaError._TIMED_OUT}
)

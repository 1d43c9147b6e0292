"""One test's own part of a broker: topics under a prefix, a group, gates, and what was sent there."""

import os
import threading
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from harness.checking import CheckFailed, expect, until
from harness.gate import Gate
from harness.processes import Process
from harness.reading import Reader
from harness.records import encode

TOPICS = (
    "candidate candidate.security approved deferred dropped receipts state state.security preferences.state"
    " preferences.defaults preferences.events preferences.audit"
).split()
COMPACTED = frozenset({"deferred", "state", "state.security", "preferences.state", "preferences.defaults"})
OUTPUTS = ("approved", "deferred", "dropped")


class Sent:
    """One record that a test wrote; `partition` and `offset` are known once it is acknowledged."""

    __slots__ = ("topic", "key", "value", "headers", "partition", "offset", "timestamp", "error")

    def __init__(self, topic, key, value, headers):
        self.topic, self.key, self.value, self.headers = topic, key, value, headers or []
        self.partition = self.offset = self.timestamp = self.error = None

    def on_delivery(self, error, message):
        self.error = error
        if error is None:
            self.partition, self.offset = message.partition(), message.offset()
            self.timestamp = message.timestamp()[1]


class World:
    def __init__(self, sendgate, broker, prefix, directory):
        self.sendgate, self.broker, self.prefix, self.directory = sendgate, broker, prefix, directory
        self.topics = {name: f"{prefix}.{name}" for name in TOPICS}
        self.group = f"{prefix}-gate"
        self.partitions = {}
        self.processes, self.readers, self.extra_brokers = [], [], []
        self.documents, self.defaults, self.candidates = [], [], []
        self._producer = self._admin = None
        self._watchers, self._progress = {}, 0
        self.config_path = os.path.join(directory, "sendgate.properties")
        self.write_config(broker.bootstrap)

    # Configuration, topics.

    def write_config(self, bootstrap, **settings):
        lines = {
            "kafka.bootstrap.servers": bootstrap,
            "group.id": self.group,
            "log.format": "json",
            "topics.create.partitions": 4,
            "topics.create.partitions.security": 2,
            "topics.create.replication.factor": 1,
            **{f"topics.{name}": topic for name, topic in self.topics.items()},
            **settings,
        }
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.writelines(f"{key}={value}\n" for key, value in lines.items())

    def admin(self):
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        return self._admin

    def create_topics(self, partitions=4, security=2, only=TOPICS, counts=(), config=()):
        """Makes the topics of the contract; `counts` and `config` differ for the topics they name."""
        new = []
        for name in only:
            count = dict(counts).get(name, security if name.endswith(".security") else partitions)
            settings = {"cleanup.policy": "compact" if name in COMPACTED else "delete"}
            settings.update(dict(config).get(name, {}))
            self.partitions[name] = count
            new.append(NewTopic(self.topics[name], count, 1, config=settings))
        admin = self.admin()
        for topic, made in admin.create_topics(new, operation_timeout=20).items():
            made.result(30)
            until(f"topic {topic} exists", lambda t=topic: t in admin.list_topics(timeout=10).topics, 20)
        return self

    def add_partitions(self, name, count):
        for made in self.admin().create_partitions([NewPartitions(self.topics[name], count)]).values():
            made.result(30)

    def delete_topic(self, name):
        for done in self.admin().delete_topics([self.topics[name]], operation_timeout=20).values():
            done.result(30)

    # Processes.

    def gate(self, name="gate-0", until_idle=None, environment=None, **settings):
        """Starts a gate; `instance.id` is its name. In a setting's name `__` stands for a dot."""
        made = {"instance.id": name.split("/")[0], "partitions.check.interval.ms": 1000}
        made.update({key.replace("__", "."): value for key, value in settings.items()})
        gate = Gate(self, name.replace("/", "-"), made, until_idle, environment)
        self.processes.append(gate)
        return gate

    def command(self, name, *words, stdin=None, seconds=60, environment=None):
        """Runs a sendgate command to its end; returns the process."""
        process = Process(name, [self.sendgate, *words], self.directory, environment, stdin)
        self.processes.append(process)
        process.wait(seconds)
        return process

    def second_broker(self, port):
        broker = self.broker.another(port, f"{self.prefix}-broker")
        self.extra_brokers.append(broker)
        return broker

    # Writing.

    def new_producer(self, **properties):
        return Producer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "linger.ms": 2,
                "log_level": 0,
                **properties,
            }
        )

    @property
    def producer(self):
        if self._producer is None:
            self._producer = self.new_producer()
        return self._producer

    def write(self, name, key, value, partition=None, headers=None, producer=None):
        """One record to the topic of that short name."""
        producer = producer or self.producer
        sent = Sent(name, key, value, headers)
        where = {} if partition is None else {"partition": partition}
        while True:
            try:
                producer.produce(self.topics[name], value, key, headers=headers, on_delivery=sent.on_delivery, **where)
                return sent
            except BufferError:
                producer.poll(0.05)

    def flush(self, seconds=60):
        left = self.producer.flush(seconds)
        expect(left == 0, f"{left} records were not acknowledged within {seconds} s")

    def prefer(self, made, user_id=None, flush=True):
        """Writes a preference document (a dict, bytes, or None for a tombstone)."""
        value = made if made is None or isinstance(made, bytes) else encode(made)
        key = (user_id or made["user_id"]).encode()
        sent = self.write("preferences.state", key, value)
        self.documents.append(sent)
        if flush:
            self.flush()
            expect(sent.error is None, f"the document was refused: {sent.error}")
        return sent

    def prefer_default(self, category, default, regulated):
        made = {"category": category, "default": default, "regulated_default": regulated}
        sent = self.write("preferences.defaults", category.encode(), encode(made))
        self.defaults.append(sent)
        self.flush()
        return sent

    def send(self, made, security=False, **how):
        """Writes a candidate (a dict or bytes); the key is its user unless `key` is given."""
        value = encode(made) if isinstance(made, dict) else made
        key = how.pop("key") if "key" in how else made["user_id"].encode()
        sent = self.write("candidate.security" if security else "candidate", key, value, **how)
        self.candidates.append(sent)
        return sent

    # Reading.

    def reader(self, names=OUTPUTS, **properties):
        reader = Reader(self.broker.bootstrap, {name: self.topics[name] for name in names}, **properties)
        self.readers.append(reader)
        return reader

    def decide(self, reader, made, count=1, security=False, seconds=30, **how):
        """Sends one candidate; returns the outputs of that notification once there are `count`."""
        self.send(made, security, **how)
        self.flush()
        wanted = made["notification_id"]
        reader.until(f"{count} outputs of {wanted}", lambda read: len(outputs_of(read, wanted)) >= count, seconds)
        return outputs_of(reader.read, wanted)

    def committed(self, security=False):
        """partition -> the gate's committed offset (-1: none)."""
        group = self.group + (".security" if security else "")
        topic = self.topics["candidate.security" if security else "candidate"]
        request = [ConsumerGroupTopicPartitions(group)]
        answer = self.admin().list_consumer_group_offsets(request, require_stable=False)[group].result(20)
        return {place.partition: place.offset for place in answer.topic_partitions if place.topic == topic}

    def progress(self):
        """Candidates committed in all partitions; what cannot be asked now counts as nothing new."""
        try:
            self._progress = sum(offset for offset in self.committed().values() if offset > 0)
        except (KafkaException, TimeoutError):
            pass
        return self._progress

    def ends(self, name, isolation="read_uncommitted"):
        """partition -> the offset behind the last record; of `read_committed` the last stable offset."""
        if isolation not in self._watchers:
            self._watchers[isolation] = Consumer(
                {
                    "bootstrap.servers": self.broker.bootstrap,
                    "group.id": f"{self.prefix}-watermarks",
                    "isolation.level": isolation,
                    "log_level": 0,
                }
            )
        watcher, topic = self._watchers[isolation], self.topics[name]
        return {
            number: watcher.get_watermark_offsets(TopicPartition(topic, number), timeout=20)[1]
            for number in watcher.list_topics(topic, timeout=10).topics[topic].partitions
        }

    def open_partitions(self, names=OUTPUTS):
        """(topic, partition) whose last stable offset is not their end: a transaction is open there."""
        found = []
        for name in names:
            stable, last = self.ends(name, "read_committed"), self.ends(name)
            found += [(name, number) for number in last if stable[number] != last[number]]
        return found

    def await_decided(self, seconds=60, security=False, ended=()):
        """Waits until the gate has committed every candidate that was written. Not for topics with markers.

        A gate that ended by itself is an error, but for the exit codes `ended`."""
        fine = {None, 0, -9, Gate.FENCED, *ended}
        ends = self.ends("candidate.security" if security else "candidate")

        def look():
            for process in self.processes:
                if isinstance(process, Gate) and process.child.poll() not in fine:
                    raise CheckFailed(f"{process.name} ended with {process.child.returncode}")
            try:
                committed = self.committed(security)
            except (KafkaException, TimeoutError):
                return False
            return all(committed.get(number, -1) >= end for number, end in ends.items() if end > 0)

        until("every candidate is decided and committed", look, seconds, every=0.1)

    # The end.

    def finish(self):
        for process in reversed(self.processes):
            process.finish()
        for broker in self.extra_brokers:
            broker.finish()
            broker.forget()
        for reader in self.readers + list(self._watchers.values()):
            reader.close()

    def describe(self):
        told = [process.describe() for process in self.processes]
        return "\n".join(told + [broker.describe() for broker in self.extra_brokers + [self.broker]])


class Background:
    """A function in a thread beside the test; `join` hands on what it raised."""

    def __init__(self, function):
        self.error = None
        self.stopping = threading.Event()

        def run():
            try:
                function(self.stopping)
            except BaseException as error:  # handed on by join
                self.error = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        self.started = time.monotonic()

    def is_running(self):
        return self.thread.is_alive()

    def stop(self, seconds=120):
        self.stopping.set()
        self.join(seconds)

    def join(self, seconds=120):
        self.thread.join(seconds)
        if self.thread.is_alive():
            raise CheckFailed(f"the work beside the test did not end within {seconds} s")
        if self.error is not None:
            raise self.error


def first_decisions(outputs):
    """Without what ends a hold: somebody's window may end, at that place's full hour, while the test runs."""
    return [output for output in outputs if output.value is not None and "held" not in output.record]


def outputs_of(outputs, notification_id):
    wanted = notification_id.encode()
    return [output for output in outputs if output.header("notification_id") == wanted]

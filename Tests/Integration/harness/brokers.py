"""The brokers that the suite can run on, and what each of them keeps of Kafka's promises."""

import importlib.util
import os
import random
import shutil
import signal
import socket

from confluent_kafka.admin import AdminClient

from harness.checking import CheckFailed, until
from harness.processes import Process

# What a test may need beyond produce, fetch, groups and committed transactions:
EXACT = "exact"  # aborts, fencing, time-outs, generations and the last stable offset as in Apache Kafka
ADMIN = "admin"  # more partitions for a topic that exists
OURS = "ours"  # a second broker can be started, and this one ended and started again
DURABLE = "durable"  # what was acknowledged survives kill -9
INJECTS = "injects"  # answers can be made to go wrong


# Below those that the system gives to clients: one of them could be the near end of somebody's connection by the time
# it is listened on, or again while a broker that is started anew on its port is down.
PORTS = range(15_000, 32_000)
_given = set()


def free_port():
    """A port that nobody listens on, and that this run has not given out before."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port


def answers(bootstrap):
    """Whether a broker there tells its topics."""
    try:
        return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=2) is not None
    except Exception:
        return False


class GivenBroker:
    """One that somebody else runs."""

    kind = "given"
    keeps = frozenset({EXACT, ADMIN})

    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        if not answers(bootstrap):
            raise CheckFailed(f"no broker answers at {bootstrap}")

    def finish(self):
        pass

    def describe(self):
        return f"-- broker at {self.bootstrap}, not ours"


class OurBroker:
    """A broker process of the suite's own, with a folder of its own."""

    def __init__(self, directory, name="broker", port=0):
        self.directory, self.name = os.path.join(directory, name), name
        os.makedirs(self.directory, exist_ok=True)
        self.port, self.process = port, None

    @property
    def bootstrap(self):
        return f"127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()

    def finish(self):
        if self.process is not None:
            self.process.finish()

    def forget(self):
        """Its data is of no use once it has ended."""
        shutil.rmtree(os.path.join(self.directory, "data"), ignore_errors=True)

    def describe(self):
        return self.process.describe() if self.process is not None else "-- broker never started"

    def await_answer(self):
        def look():
            if not self.process.is_running():
                raise CheckFailed(f"the broker ended:\n{self.process.describe()}")
            return answers(self.bootstrap)

        until(f"the broker answers at {self.bootstrap}", look, 30, every=0.1)


class SendgateBroker(OurBroker):
    """`sendgate broker`."""

    kind = "own"
    keeps = frozenset({EXACT, ADMIN, OURS, DURABLE, INJECTS})

    def __init__(self, sendgate, directory, name="broker", port=0):
        super().__init__(directory, name, port)
        self.sendgate = sendgate

    def start(self):
        """Starts it, the first time on any free port, later on the same one."""
        self.port = self.port or free_port()
        data, plan = (os.path.join(self.directory, name) for name in ("data", "plan"))
        open(plan, "a", encoding="ascii").close()
        command = [self.sendgate, "broker", "--port", self.port, "--data", data, "--inject", plan]
        self.process = Process(self.name, command, self.directory)
        self.await_answer()
        return self

    def inject(self, plan):
        """Makes answers go wrong by this plan from now on; an empty one ends that."""
        with open(os.path.join(self.directory, "plan"), "w", encoding="ascii") as file:
            file.write(plan)
        self.process.signal(signal.SIGHUP)

    def another(self, port, name):
        return SendgateBroker(self.sendgate, self.directory, name, port)


class NoidaBroker(OurBroker):
    """noida-db: for short functional runs; it keeps none of the promises above."""

    kind = "noida"
    keeps = frozenset({OURS})

    def start(self):
        self.port = self.port or free_port()
        # The program itself: its launcher would be the one that is killed, and it would live on.
        package = importlib.util.find_spec("noida_db").submodule_search_locations[0]
        words = [os.path.join(package, "noida-db"), "start", "--only", "kafka", "--kafka-port", self.port]
        self.process = Process(self.name, words, self.directory)
        self.await_answer()
        return self

    def another(self, port, name):
        return NoidaBroker(self.directory, name, port)

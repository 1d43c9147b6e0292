"""Every (notification, device) exactly once, through clean stops, rebalances, crashes and zombies."""

from harness.brokers import DURABLE, EXACT, INJECTS
from harness.cases import case
from harness.checking import expect, expect_equal, let_pass, until
from harness.gate import Gate
from harness.ledger import Ledger, at_progress, random_moment, write_documents
from harness.verify import check_ended_cleanly

# Compaction would hide a hold that came twice.
KEEP_ALL = {"deferred": {"cleanup.policy": "delete"}}
SHORT_SESSION = {"kafka__session__timeout__ms": 6000, "drain__timeout__ms": 5000}
PARTITIONS = 6


def prepared(world, partitions=PARTITIONS):
    world.create_topics(partitions=partitions, config=KEEP_ALL)
    write_documents(world)
    return Ledger(world)


@case()
def ten_clean_stops(world):
    """10 clean stops and restarts under a load of 60,000 and more: exit 0 each time, every (notification, device) once."""
    ledger = prepared(world)
    load = ledger.load(ahead_max=5000, at_least=60_000)
    for turn in range(10):
        gate = world.gate(f"gate-0/{turn}")
        before = world.progress()
        at_progress(world, before + world.random.randrange(1000, 4500))
        random_moment(world, 100)
        gate.drain()
        check_ended_cleanly(world)
    last = world.gate("gate-0/last")
    load.stop()
    world.await_decided(60)
    last.drain()
    ledger.check()


@case(EXACT)
def instances_join_and_leave(world):
    """An instance joins another and leaves again, 6 times under load; every (notification, device) once."""
    ledger = prepared(world)
    load = ledger.load(ahead_max=8000)
    stayer = world.gate("gate-0", **SHORT_SESSION)
    for turn in range(6):
        before = world.progress()
        other = world.gate(f"gate-1/{turn}", **SHORT_SESSION)
        other.wait_for_output("ssigned", 40)
        until("it decides too, or the other does", lambda: world.progress() > before + 3000, 60)
        random_moment(world)
        other.drain()
    load.stop()
    world.await_decided(90)
    stayer.drain()
    ledger.check()


@case(EXACT)
def cooperative_hand_over(world):
    """Partitions move to a second instance without the first giving up those it keeps; both decide, nothing twice."""
    ledger = prepared(world, partitions=8)
    first = world.gate("gate-0", **SHORT_SESSION)
    first.await_ready()
    load = ledger.load(ahead_max=5000)
    at_progress(world, 5000)
    second = world.gate("gate-1", **SHORT_SESSION)
    until("the second decides too", lambda: decided(second) > 0, 60)
    mark = decided(first)
    until("the first still decides", lambda: decided(first) > mark, 60)
    load.stop()
    world.await_decided(60)
    first.drain()
    second.drain()
    ledger.check()


def decided(gate):
    if gate.get("/livez")[0] is None:
        return 0
    return sum(value for name, labels, value in gate.metrics() if "reason" in labels and name.endswith("_total"))


def crash_round(world, ledger, instances, number, count=200_000):
    """200,000 candidates; one instance comes and goes, and at a random moment one or both are killed with -9."""
    start = ledger.issued
    load = ledger.load(ahead_max=20_000, at_least=count)
    joiner = world.gate(f"gate-2/{number}", **SHORT_SESSION)
    at_progress(world, start + world.random.randrange(count // 20, count // 2))
    random_moment(world)
    victims = [0, 1] if world.random.random() < 0.3 else [world.random.randrange(2)]
    for victim in victims:
        expect_equal(instances[victim].kill(), -9, "the exit code of what was killed")
    for victim in victims:
        instances[victim] = world.gate(f"gate-{victim}/{number}", **SHORT_SESSION)
    at_progress(world, start + world.random.randrange(count // 2, count * 4 // 5))
    joiner.drain()
    load.stop(240)
    world.await_decided(90)
    ledger.check()


def crash_rounds(world, rounds):
    ledger = prepared(world)
    instances = [world.gate(f"gate-{number}", **SHORT_SESSION) for number in range(2)]
    for number in range(rounds):
        crash_round(world, ledger, instances, number)
    for instance in instances:
        instance.drain()
    ledger.check()


@case(EXACT)
def gate_killed_3_times(world):
    """kill -9 at random in the middle of 200,000 candidates, instances joining and leaving, 3 times: each once."""
    crash_rounds(world, 3)


@case(EXACT, long=True)
def gate_killed_20_times(world):
    """kill -9 at random in the middle of 200,000 candidates, instances joining and leaving, 20 times: each once."""
    crash_rounds(world, 20)


@case(DURABLE)
def broker_killed_3_times(world):
    """kill -9 of the broker, 3 times under a load of 100,000: the gate waits, reconnects, goes on; each once."""
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap)
    ledger = prepared(world)
    # The gate's producers may wait for the broker as long as the test does.
    gate = world.gate("gate-0", **SHORT_SESSION)
    load = ledger.load(ahead_max=10_000, at_least=100_000)
    for turn in range(3):
        at_progress(world, 10_000 + turn * 25_000 + world.random.randrange(10_000))
        random_moment(world)
        broker.kill()
        random_moment(world, 2000)
        expect(gate.is_running(), "the gate ended because the broker did")
        broker.start()
    load.stop(240)
    world.await_decided(120)
    expect_equal(gate.get("/livez")[0], 200, "/livez at last")
    gate.drain()
    ledger.check()


@case(EXACT)
def fenced_by_its_successor(world):
    """A frozen gate whose instance.id another process has taken over is fenced: exit code 80, nothing doubled."""
    ledger = prepared(world)
    load = ledger.load(ahead_max=6000)
    zombie = world.gate("gate-0/old", **SHORT_SESSION)
    at_progress(world, 3000)
    random_moment(world)
    zombie.stop()
    successor = world.gate("gate-0/new", **SHORT_SESSION)
    mark = world.progress()
    until("the successor has taken over", lambda: world.progress() > mark + 3000, 60)
    zombie.proceed()
    expect_equal(zombie.wait(60), Gate.FENCED, "the zombie's exit code")
    expect(successor.is_running(), "the successor ended too")
    load.stop()
    world.await_decided(60)
    successor.drain()
    ledger.check()


@case(EXACT)
def zombie_past_its_session(world):
    """Frozen past its session, its partitions taken, then continued: it ends with 80 or joins again; nothing doubled."""
    ledger = prepared(world)
    load = ledger.load(ahead_max=6000)
    zombie = world.gate("gate-0", transaction__timeout__ms=10_000, **SHORT_SESSION)
    other = world.gate("gate-1", **SHORT_SESSION)
    until("both decide", lambda: decided(zombie) > 0 and decided(other) > 0, 60)
    random_moment(world)
    zombie.stop()
    # Its partitions are the other's once those that were its own move on.
    mark = world.committed()
    until("all partitions move on without it", lambda: moved_on(mark, world.committed()), 60, every=0.1)
    zombie.proceed()
    until("it noticed", lambda: not zombie.is_running() or "ost partition" in zombie.output(), 60)
    load.stop()
    world.await_decided(60)
    code = zombie.child.poll()
    expect(code in (None, Gate.FENCED), f"the zombie ended with {code}")
    if code is None:
        # One lane may have noticed while the other is still finding out that it was fenced.
        code = zombie.terminate(40)
        expect(code in (0, Gate.FENCED), f"the zombie ended with {code} after SIGTERM")
    other.drain()
    ledger.check()


def moved_on(before, now):
    """Whether every partition of the topic has a later offset. One that had none yet when it was looked at counts from -1."""
    return len(now) == PARTITIONS and all(offset > before.get(partition, -1) for partition, offset in now.items())


@case(INJECTS)
def leaving_before_the_first_assignment(world):
    """SIGTERM while the group has not assigned anything yet ends the gate with 0 (librdkafka 2.0.2 aborts on it)."""
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap)
    ledger = prepared(world)
    for group in (world.group, f"{world.group}.security"):
        broker.inject(f"SyncGroup group={group} delay 4000\n")
        gate = world.gate(f"gate-0/{group[-8:]}", **SHORT_SESSION)
        gate.await_ready()
        let_pass(0.5)
        gate.drain()
    broker.inject("")
    ledger.issue(1000)
    # A broker that still works on SyncGroup does not hear the leave, so its member may have to time out first.
    last = world.gate("gate-0/last", until_idle=1, **SHORT_SESSION)
    expect_equal(last.wait(60), 0, "the exit code of the one that decides")
    ledger.check()


@case(EXACT)
def frozen_past_transaction_timeout(world):
    """C116: frozen for longer than transaction.timeout.ms amid a transaction, it recovers or ends with 80; each once."""
    ledger = prepared(world)
    # The session outlives the freeze: the coordinator's time-out alone is met.
    settings = {"transaction__timeout__ms": 1500, "kafka__session__timeout__ms": 30_000, "commit__interval__ms": 150}
    load = ledger.load(ahead_max=6000)
    gate = world.gate("gate-0/0", **settings)

    def alive():
        """The gate, or its successor. On a slow machine a transaction may take too long with nobody freezing anything."""
        nonlocal gate
        if not gate.is_running():
            expect_equal(gate.child.returncode, Gate.FENCED, "the exit code")
            gate = world.gate(f"gate-0/{len(world.processes)}", **settings)
        return gate

    def await_progress(target):
        until(f"{target} candidates are committed", lambda: alive() and world.progress() >= target, 120)

    for _ in range(4):
        await_progress(world.progress() + 1500)
        random_moment(world, 200)
        alive().stop()
        let_pass(2)
        # The coordinator looks for such transactions now and then; readers go on once it has found it.
        until("no transaction is open", lambda: not world.open_partitions(), 30)
        gate.proceed()
        await_progress(world.progress() + 1)
    load.stop()
    await_progress(ledger.issued)
    gate.drain()
    ledger.check()

"""Starting, waiting, refusing, and ending."""

import json
import signal

from harness.brokers import EXACT, OURS, free_port
from harness.cases import case
from harness.checking import CheckFailed, expect, expect_equal, let_pass, until
from harness.records import candidate, document
from harness.verify import check_all, check_ended_cleanly


def one_user(world):
    world.prefer(document("u-1"))


@case(OURS)
def broker_absent_at_start(world):
    """C125: without a broker the gate waits, saying where it looks, alive and not ready; once there is one it goes on."""
    port = free_port()
    world.write_config(f"127.0.0.1:{port}")
    gate = world.gate()
    gate.wait_for_output(f"127.0.0.1:{port}", 30)
    until("it is alive", lambda: gate.get("/livez")[0] == 200)
    until("it says it is not ready", lambda: gate.get("/readyz")[0] == 503)
    expect(gate.is_running(), "the gate ended for want of a broker")
    broker = world.second_broker(port).start()
    world.broker = broker
    world.create_topics()
    one_user(world)
    gate.await_ready(60)
    (output,) = world.decide(world.reader(), candidate("n-1", "u-1"))
    expect_equal(output.record["reason"], "ok", "the first decision")
    expect_equal(gate.get("/livez")[0], 200, "/livez")
    gate.drain()


@case()
def broker_wait_has_an_end(world):
    """With broker.wait.timeout.ms the gate gives up on an absent broker with exit code 69, naming it."""
    port = free_port()
    world.write_config(f"127.0.0.1:{port}")
    gate = world.gate(broker__wait__timeout__ms=1500)
    expect_equal(gate.wait(30), 69, "the exit code")
    expect(f"127.0.0.1:{port}" in gate.output(), "the broker is not named")


@case()
def missing_topics_are_named(world):
    """C123: while topics are missing the gate decides nothing and names each of them; once they are there it goes on."""
    absent = ("preferences.state", "preferences.defaults", "approved")
    present = [name for name in world.topics if name not in absent]
    world.create_topics(only=present)
    world.send(candidate("n-1", "u-1"))
    world.flush()
    gate = world.gate()

    def names_them():
        status, body = gate.get("/readyz")
        return status == 503 and all(world.topics[name] in body for name in absent)

    until("/readyz says 503 and names them", names_them)
    gate.wait_for_output("Waiting for the topics")
    expect(all(world.topics[name] in gate.output() for name in absent), "the log does not name them")
    expect(gate.is_running(), "the gate ended for want of topics")
    dropped = world.reader(["dropped"])
    expect_equal(dropped.to_end(), [], "decisions without preferences")
    world.create_topics(only=absent)
    one_user(world)
    gate.await_ready(60)
    (output,) = world.reader().count(1, 60)
    expect(output.record["reason"] in ("ok", "unknown_user"), f"an odd first decision: {output}")
    gate.drain()


@case()
def unequal_counts_at_start(world):
    """T5: the gate ends with code 78 where partition counts differ, naming both topics and both counts."""
    world.create_topics(counts={"preferences.state": 6})
    gate = world.gate()
    code = gate.wait(60)
    expect(code not in (0, -6, -11), f"ended with {code}")
    expect_equal(code, 78, "the exit code")
    check_names_both(world, gate, "preferences.state", 6)


@case()
def security_may_have_fewer_partitions_not_more(world):
    """T5: more security partitions than ordinary ones are refused; the state topic of the lane must have as many."""
    world.create_topics(partitions=2, counts={"candidate.security": 4, "state.security": 4})
    gate = world.gate()
    expect_equal(gate.wait(60), 78, "the exit code")
    expect(world.topics["candidate.security"] in gate.output(), "the topic is not named")


def check_names_both(world, gate, name, count):
    told = gate.output()
    others = [topic for key, topic in world.topics.items() if key != name and topic in told]
    expect(world.topics[name] in told, f"{world.topics[name]} is not named")
    expect(others, "the other topic is not named")
    expect(str(count) in told and "4" in told, f"the counts {count} and 4 are not told")


@case("admin")
def partitions_raised_while_running(world):
    """C126: when one topic gets more partitions the gate stops deciding and ends with 78, naming topics and counts."""
    world.create_topics()
    for number in range(40):
        world.prefer(document(f"u-{number}", categories={"social": {"state": "user-off"}}), flush=False)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    world.decide(reader, candidate("n-first", "u-1"))
    world.add_partitions("candidate", 12)
    # A producer that knows the new count sends users to partitions where their preferences are not.
    producer = world.new_producer(**{"topic.metadata.refresh.interval.ms": 500})
    sent = 0
    while gate.is_running() and sent < 20_000:
        number = sent % 40
        world.send(candidate(f"n-{sent}", f"u-{number}"), producer=producer)
        producer.poll(0.005)
        sent += 1
    producer.flush(30)
    code = gate.wait(60)
    expect_equal(code, 78, "the exit code")
    check_names_both(world, gate, "candidate", 12)
    outputs = reader.to_end()
    approved = [output for output in outputs if output.topic == "approved"]
    expect(not approved, f"{len(approved)} approvals for users who said no: {approved[:1]}")
    check_ended_cleanly(world)


@case()
def sigterm_drains(world):
    """SIGTERM under load: exit code 0, no open transaction, what was decided is committed and nothing else."""
    world.create_topics()
    one_user(world)
    gate = world.gate()
    reader = world.reader()
    for number in range(20_000):
        world.send(candidate(f"n-{number}", "u-1"))
        world.producer.poll(0)
    reader.count(1000)
    gate.drain()
    expect("Traceback" not in gate.output() and "Fatal error" not in gate.output(), "a trap on the way out")
    check_ended_cleanly(world)
    world.flush()
    outputs = reader.to_end()
    committed = sum(offset for offset in world.committed().values() if offset > 0)
    expect_equal(len(outputs), committed, "outputs against committed offsets")


@case()
def group_is_left_at_once(world):
    """After SIGTERM the next instance gets the partitions without waiting for a session to time out."""
    world.create_topics()
    one_user(world)
    reader = world.reader()
    for number in range(3):
        gate = world.gate(f"gate-{number}", kafka__session__timeout__ms=45_000)
        # Far below the session time-out; a start, a join and a decision fit in.
        world.decide(reader, candidate(f"n-{number}", "u-1"), seconds=30)
        gate.drain()


@case(OURS, EXACT)
def second_signal_ends_at_once(world):
    """Draining against a broker that does not answer, a second SIGTERM ends the gate at once; nothing is doubled."""
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap)
    world.create_topics()
    one_user(world)
    reader = world.reader()
    gate = world.gate(commit__interval__ms=3000, transaction__timeout__ms=30_000)
    for number in range(200):
        world.send(candidate(f"n-{number}", "u-1"))
    world.flush()
    reader.count(200)

    def is_open():
        # Without one it has nothing to wait for. More each time: one that was missed will not open again by itself.
        for _ in range(50):
            world.send(candidate(f"n-{len(world.candidates)}", "u-1"))
        world.flush()
        return world.open_partitions()

    until("a transaction is open", is_open)
    broker.process.stop()
    gate.signal(signal.SIGTERM)
    gate.wait_for_output("raining")
    let_pass(1)
    expect(gate.is_running(), "the gate did not wait for the broker")
    gate.signal(signal.SIGTERM)
    code = gate.wait(10)
    expect(code not in (-6, -11, -4, 70), f"ended with {code}")
    broker.process.proceed()
    again = world.gate("gate-0/again")
    again.await_ready()
    world.await_decided(60)
    again.drain()
    ids = [output.header("notification_id") for output in reader.to_end()]
    sent = len(world.candidates)
    expect_equal((len(ids), len(set(ids))), (sent, sent), "outputs, and distinct ones")


@case()
def signals_before_it_is_ready(world):
    """SIGTERM while the gate waits for a broker, or while it reads the preferences, ends it with 0 at once."""
    port = free_port()
    world.write_config(f"127.0.0.1:{port}")
    gate = world.gate("gate-waiting")
    gate.wait_for_output(f"127.0.0.1:{port}", 30)
    until("it is alive", lambda: gate.get("/livez")[0] == 200)
    expect_equal(gate.terminate(15), 0, "the exit code while it waits for a broker")
    world.write_config(world.broker.bootstrap)
    world.create_topics()
    for number in range(100_000):
        world.write("preferences.state", b"u-%d" % number, b'{"user_id":"u-%d","version":1,"account":{}}' % number)
        world.producer.poll(0)
    world.flush()
    gate = world.gate("gate-reading")
    until("it is alive", lambda: gate.get("/livez")[0] == 200)
    expect_equal(gate.terminate(15), 0, "the exit code while it reads the preferences")


@case()
def until_idle(world):
    """--until-idle ends with 0 once nothing comes for that long, everything decided; also where there is nothing."""
    world.create_topics()
    one_user(world)
    empty = world.gate("gate-empty", until_idle=1)
    expect_equal(empty.wait(60), 0, "the exit code with nothing to do")
    for number in range(50_000):
        world.send(candidate(f"n-{number}", "u-1", "social" if number % 2 else "transactional"))
        world.producer.poll(0)
    world.send(candidate("s-1", "u-1", "security", event="login_alert"), security=True)
    world.flush()
    gate = world.gate(until_idle=2)
    expect_equal(gate.wait(120), 0, "the exit code")
    outputs = world.reader().to_end()
    expect_equal(len({output.header("notification_id") for output in outputs}), 50_001, "decided notifications")
    expect_equal(len(outputs), 50_001, "outputs")
    check_all(world, outputs[::2500])


@case()
def health_pages(world):
    """/readyz is 503 until the preferences are read and 200 then; /livez is 200; /metrics counts what was decided."""
    world.create_topics()
    for number in range(200_000):
        world.write("preferences.state", b"u-%d" % number, b'{"user_id":"u-%d","version":1,"account":{}}' % number)
        world.producer.poll(0)
    world.flush()
    one_user(world)
    gate = world.gate()
    statuses = []

    def ready():
        statuses.append(gate.get("/readyz")[0])
        return statuses[-1] == 200

    until("it is ready", ready, 60, every=0.002)
    expect(503 in statuses, f"/readyz never said 503 while 200,000 documents were read: {set(statuses)}")
    expect_equal(gate.get("/livez")[0], 200, "/livez")

    def all_well():
        status, body = gate.get("/readyz?verbose")
        return status == 200 and "[+]" in body and "[-]" not in body

    # A lane that has just begun is not ready until something came of each of its partitions.
    until("/readyz?verbose says that all is well", all_well)
    expect_equal(gate.get("/no-such")[0], 404, "another page")
    reader = world.reader()
    for number in range(300):
        world.send(candidate(f"n-{number}", "u-1", "social" if number < 200 else "loyalty"))
    world.send(candidate("s-1", "u-1", "security", event="login_alert"), security=True)
    world.flush()
    reader.count(301)
    sums = {}

    def counted():
        sums.clear()
        for name, labels, value in gate.metrics():
            if "reason" in labels and name.endswith("_total"):
                sums[labels["reason"]] = sums.get(labels["reason"], 0) + value
        return sum(sums.values()) >= 301

    until("the metrics count 301 decisions", counted)
    expect_equal(
        {reason: value for reason, value in sums.items() if value}, {"ok": 201, "unknown_category": 100}, "sums"
    )
    text = gate.get("/metrics")[1]
    expect(text.endswith("# EOF\n"), "/metrics does not end as OpenMetrics text does")
    for word in ("commit", "abort", "lag", "preference", "tzdb", "info"):
        expect(word in text.lower(), f"/metrics says nothing of {word}")
    gate.drain()


@case()
def logs_are_json_lines_without_records(world):
    """Every log line is a JSON object with time, level and message; no payload, no hostile text, no document in it."""
    world.create_topics()
    one_user(world)
    world.prefer(b'{"user_id":"u-2","secret-document":', "u-2")
    gate = world.gate()
    reader = world.reader()
    world.send(candidate("n-1", "u-1", payload={"t": "secret-payload"}))
    world.send(b'{"secret-hostile": \xc3\x28', key=b"u-1")
    world.flush()
    reader.count(2)
    gate.drain()
    told = gate.output()
    lines = [line for line in told.splitlines() if line.strip()]
    expect(lines, "no log at all")
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            raise CheckFailed(f"no JSON line: {line!r}") from None
        names = {name.lower() for name in record}
        expect(names & {"time", "ts", "timestamp"} and "level" in names, f"no time or level: {line}")
        expect(names & {"message", "msg"}, f"no message: {line}")
    for secret in ("secret-payload", "secret-hostile", "secret-document"):
        expect(secret not in told, f"{secret} is in the log")


@case()
def effective_settings_are_logged(world):
    """C117, C129: the start says that its readers read committed records only, and does not show secrets."""
    world.create_topics()
    gate = world.gate(kafka__ssl__key__password="hunter2-secret")
    gate.await_ready()
    gate.drain()
    told = gate.output()
    expect("read_committed" in told, "isolation.level is not told at start")
    expect("hunter2-secret" not in told, "a password is in the log")


@case()
def wrong_properties_of_a_client_are_told_at_start(world):
    """A kafka. property that only a producer refuses, and a list of no brokers, end the start with 78, key and bound named."""
    world.create_topics()
    for settings, words in (
        ({"kafka__linger__ms": "soon"}, ["linger.ms", "soon"]),
        ({"kafka__batch__num__messages": 0}, ["batch.num.messages", "1..1000000"]),
        ({"kafka__acks": 1}, ["acks"]),
        ({"kafka__bootstrap__servers": ",,,"}, ["kafka.bootstrap.servers", "HOST:PORT"]),
    ):
        gate = world.gate(f"gate-{len(world.processes)}", **settings)
        expect_equal(gate.wait(30), 78, f"the exit code with {settings}")
        told = gate.output()
        expect(all(word in told for word in words), f"{words} are not told: {told[-500:]}")
        expect("fatal(" not in told, "a name of the program's own is told")

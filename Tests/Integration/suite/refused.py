"""Rights that Kafka refuses: named with what to grant, never taken for the end of the input, and used once they are granted."""

from harness.brokers import INJECTS
from harness.cases import case
from harness.checking import expect, expect_equal, until, until_equal
from harness.records import candidate, document

INPUT_UNREAD = 75


def refusing(world, rule):
    """A broker of the test's own that answers by the rule."""
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap)
    world.create_topics()
    world.prefer(document("u-1"))
    world.send(candidate("n-0", "u-1"))
    world.flush()
    broker.inject(rule + "\n")
    return broker


LANE = {"lane": "ordinary-0"}


def await_named(gate, code, grant):
    """Waits until /readyz is 503 and says which right is missing."""

    def named():
        status, body = gate.get("/readyz")
        return status == 503 and code in body and grant in body

    until(f"/readyz says {code} and to {grant}", named, 30, every=0.1)
    for words in (code, grant):
        gate.wait_for_output(words)


def meet(world, rule, code, grant):
    """Until it is idle the gate ends with 75; otherwise it says what is wrong, and goes on once that is mended."""
    broker = refusing(world, rule)
    idle = world.gate("gate-idle", until_idle=1)
    expect_equal(idle.wait(60), INPUT_UNREAD, "the exit code")
    expect(code in idle.output() and grant in idle.output(), f"the log does not say {code} and to {grant}")
    gate = world.gate()
    await_named(gate, code, grant)
    broker.inject("")
    gate.await_ready(60)
    world.await_decided(ended=[INPUT_UNREAD])
    return broker, gate


@case(INJECTS)
def candidates_may_not_be_read(world):
    """Fetching candidates refused, from the start or later on: named, no lag made up, ready again without a new record."""
    rule = f"Fetch topic={world.topics['candidate']} error TOPIC_AUTHORIZATION_FAILED"
    broker, gate = meet(world, rule, "TOPIC_AUTHORIZATION_FAILED", "grant this client's principal")
    until_equal(lambda: gate.value("sendgate_lag_records", **LANE), 0, "the lag")
    until_equal(lambda: gate.value("sendgate_unread_partitions", **LANE), 0, "partitions that are not read")
    broker.inject(rule + "\n")
    await_named(gate, "TOPIC_AUTHORIZATION_FAILED", "grant this client's principal")
    until("a partition is counted as unread", lambda: gate.value("sendgate_unread_partitions", **LANE) > 0)
    broker.inject("")
    gate.await_ready(30)
    gate.drain()


@case(INJECTS)
def a_lag_that_is_not_known_is_not_zero(world):
    """While nothing came of the candidates, sendgate_lag_records has no sample for the lane."""
    broker = refusing(world, f"Fetch topic={world.topics['candidate']} error TOPIC_AUTHORIZATION_FAILED")
    gate = world.gate()
    until("it answers", lambda: gate.get("/livez")[0] == 200)
    until_equal(lambda: gate.value("sendgate_owned_partitions", **LANE), 4, "the partitions that it owns")
    await_named(gate, "TOPIC_AUTHORIZATION_FAILED", "grant")
    expect_equal(gate.value("sendgate_lag_records", **LANE), None, "the lag of what cannot be read")
    broker.inject("")
    gate.await_ready(30)
    gate.drain()


@case(INJECTS)
def the_group_may_not_be_joined(world):
    """JoinGroup refused for a group: the lane is not ready and says why, and joins once it may."""
    rule = f"JoinGroup group={world.group} error GROUP_AUTHORIZATION_FAILED"
    _, gate = meet(world, rule, "GROUP_AUTHORIZATION_FAILED", "on its groups")
    gate.drain()


@case(INJECTS)
def the_groups_coordinator_may_not_be_asked_for(world):
    """FindCoordinator refused for a group: as where it may not be joined."""
    rule = f"FindCoordinator group={world.group} error GROUP_AUTHORIZATION_FAILED"
    _, gate = meet(world, rule, "GROUP_AUTHORIZATION_FAILED", "on its groups")
    gate.drain()


@case(INJECTS)
def preferences_may_not_be_read(world):
    """Fetching the preferences refused: /readyz says why they are not read."""
    rule = f"Fetch topic={world.topics['preferences.state']} error TOPIC_AUTHORIZATION_FAILED"
    _, gate = meet(world, rule, "TOPIC_AUTHORIZATION_FAILED", "grant this client's principal")
    gate.drain()


@case(INJECTS)
def topics_may_not_be_described(world):
    """Metadata of a topic refused: named as a refusal, not as a broker that is away."""
    rule = f"Metadata topic={world.topics['receipts']} error TOPIC_AUTHORIZATION_FAILED"
    _, gate = meet(world, rule, "TOPIC_AUTHORIZATION_FAILED", "Kafka refuses")
    gate.drain()


@case(INJECTS)
def the_state_may_not_be_read(world):
    """Fetching the lane's state refused: partitions stay in restore, and /readyz says why."""
    rule = f"Fetch topic={world.topics['state']} error TOPIC_AUTHORIZATION_FAILED"
    broker = refusing(world, "")
    first = world.gate("gate-first")
    world.await_decided()
    first.drain()
    broker.inject(rule + "\n")
    idle = world.gate("gate-idle", until_idle=1)
    expect_equal(idle.wait(60), INPUT_UNREAD, "the exit code")
    gate = world.gate()
    await_named(gate, "TOPIC_AUTHORIZATION_FAILED", "grant this client's principal")
    broker.inject("")
    gate.await_ready(60)
    gate.drain()


@case(INJECTS)
def the_transactional_id_may_not_be_used(world):
    """InitProducerId refused: the gate ends with 69, and says what to grant."""
    refusing(world, "InitProducerId error TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
    gate = world.gate()
    expect_equal(gate.wait(60), 69, "the exit code")
    expect("on the transactional ids" in gate.output(), "what to grant is not said")

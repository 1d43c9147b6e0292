"""Answers that go wrong, one at a time under load: each meets its documented reaction, and nothing is lost or doubled."""

from harness.brokers import INJECTS
from harness.cases import case
from harness.checking import CheckFailed, expect, until
from harness.gate import Gate
from harness.ledger import Ledger, write_documents

GOES_ON, FENCED, LEAVES = "goes on", "ends with 80", "ends with 69"
# Each transaction makes each of the requests: after so many the one that a rule waits for has come up.
COMMITS = 6
CODES = {FENCED: Gate.FENCED, LEAVES: 69}
OUT = "Produce topic={approved}"
TRANSACTION_STEPS = ("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn")

RETRIABLE = [
    *(f"{OUT} nth=3 error {name}" for name in ("NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS")),
    *(f"{OUT} nth=3 {action}" for action in ("close", "close-after", "repeat", "delay 1500")),
    *(
        f"{step} nth=2 error {name}"
        for step in TRANSACTION_STEPS
        for name in ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE")
    ),
    *(f"{step} nth=2 error CONCURRENT_TRANSACTIONS" for step in TRANSACTION_STEPS if step != "TxnOffsetCommit"),
    *(f"{step} nth=2 {action}" for step in TRANSACTION_STEPS for action in ("close", "close-after", "delay 1500")),
    "TxnOffsetCommit nth=2 repeat",
    "Fetch topic={candidate} nth=3 error NOT_LEADER_OR_FOLLOWER",
    "Fetch topic={candidate} nth=3 close",
]
ABORT = [
    *(
        f"TxnOffsetCommit nth=2 error {name}"
        for name in ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS")
    ),
    *(f"{OUT} nth=3 error {name}" for name in ("MESSAGE_TOO_LARGE", "INVALID_RECORD", "OUT_OF_ORDER_SEQUENCE_NUMBER")),
    f"{OUT} nth=3 error UNKNOWN_PRODUCER_ID",
    "AddPartitionsToTxn nth=2 error INVALID_PRODUCER_ID_MAPPING",
]
LOST = [
    f"{OUT} nth=3 error INVALID_PRODUCER_EPOCH",
    *(f"{step} nth=2 error INVALID_TXN_STATE" for step in ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn")),
]
FATAL = [
    *(f"{step} nth=2 error PRODUCER_FENCED" for step in TRANSACTION_STEPS),
    "TxnOffsetCommit nth=2 error FENCED_INSTANCE_ID",
    *(f"{step} nth=2 error TRANSACTIONAL_ID_AUTHORIZATION_FAILED" for step in ("AddPartitionsToTxn", "EndTxn")),
]
MEMBERSHIP = [
    "Heartbeat group={group} nth=1 error REBALANCE_IN_PROGRESS",
    "Heartbeat group={group} nth=1 error UNKNOWN_MEMBER_ID",
    "Heartbeat group={group} nth=1 error ILLEGAL_GENERATION",
    "Heartbeat group={group} nth=1 expire",
]


def meet(world, rules, allowed, seconds=40):
    """Injects each rule under load. `allowed`: how the gate may react, the documented way first."""
    broker = world.second_broker(0).start()
    world.broker = broker
    world.write_config(broker.bootstrap)
    world.create_topics(config={"deferred": {"cleanup.policy": "delete"}})
    write_documents(world)
    ledger = Ledger(world)
    names = {**world.topics, "group": world.group}
    gate = world.gate("gate-0/0", kafka__session__timeout__ms=6000, drain__timeout__ms=5000)
    gate.await_ready()
    load = ledger.load(ahead_max=4000)
    wrong = []
    for number, rule in enumerate(rules):
        before = Counts(gate)
        broker.inject(rule.format(**names) + "\n")
        try:
            until(f"reacts to: {rule}", lambda: met(gate, before, rule), seconds, every=0.05)
            code = gate.child.poll()
            reaction = (
                GOES_ON if code is None else next((k for k, v in CODES.items() if v == code), f"ends with {code}")
            )
        except CheckFailed:
            reaction = f"is stuck for {seconds} s"
        broker.inject("")
        print(f"\n   {rule}: {reaction}", end="", flush=True)
        if reaction not in allowed:
            wrong.append(f"{rule}: {reaction}, not {' or '.join(allowed)}")
        if reaction != GOES_ON:
            gate.finish()
            gate = world.gate(f"gate-0/{number + 1}", kafka__session__timeout__ms=6000, drain__timeout__ms=5000)
            mark = world.progress()
            until("its successor goes on", lambda: world.progress() > mark, 60)
    load.stop()
    world.await_decided(60, ended=CODES.values())
    gate.drain()
    ledger.check()
    print("\n  ", end=" ")
    expect(not wrong, "\n      ".join(["reactions:", *wrong]))


class Counts:
    """What a gate's ordinary lane has counted so far; nothing of a gate that does not answer."""

    def __init__(self, gate):
        self.values = {}
        if gate.get("/livez")[0] is not None:
            for name, labels, value in gate.metrics():
                if labels.get("lane", "").startswith("ordinary"):
                    self.values[name.removeprefix("sendgate_")] = value

    def since(self, before, name):
        return self.values.get(name, 0) - before.values.get(name, 0)


def met(gate, before, rule):
    """Whether the rule's request has come up since, and the gate has shown what it does about it."""
    if not gate.is_running():
        return True
    try:
        now = Counts(gate)
    except CheckFailed:
        return False
    if rule.startswith("Heartbeat"):
        return now.since(before, "rebalances_total") >= 1 and now.since(before, "commits_total") >= COMMITS
    return now.since(before, "commits_total") >= COMMITS


@case(INJECTS)
def retriable_errors(world):
    """A retriable error, a lost connection or a late answer at any step of a transaction: the gate goes on by itself."""
    meet(world, RETRIABLE, [GOES_ON])


@case(INJECTS)
def abortable_errors(world):
    """An error that spoils one transaction: it is aborted and its records are decided again, once."""
    meet(world, ABORT, [GOES_ON])


@case(INJECTS)
def lost_transactions(world):
    """The coordinator gave the transaction up: the gate makes a new producer, or ends as fenced; nothing is doubled."""
    meet(world, LOST, [GOES_ON, FENCED])


@case(INJECTS)
def fatal_errors(world):
    """Fenced or forbidden: the gate leaves at once with its own code, and its successor goes on where it was."""
    meet(world, FATAL, [FENCED, LEAVES])


@case(INJECTS)
def lost_membership(world):
    """Heartbeats refused, the member expired: the gate joins again, and nothing is decided twice."""
    meet(world, MEMBERSHIP, [GOES_ON], seconds=60)

"""The evidence index of `sendgate serve`: everything once, whatever happens to it or to the topics."""

import sqlite3
from collections import Counter

from confluent_kafka import TopicPartition

from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.evidence import EvidenceDatabase, await_indexed, evidence_path
from harness.records import candidate, device, document, encode
from harness.service import Service
from suite.holds import AT_ONCE, Sleepers

REASONS = {
    "ok": document("u-ok"),
    "os_permission_denied": document("u-denied", devices=[device(os_permission="denied")]),
    "token_expired": document("u-expired", devices=[device(token_status="expired")]),
    "account_opted_out": document(
        "u-out", categories={"social": {"state": "user-off", "at": "2025-10-01T09:00:00Z", "source": "in_app_settings"}}
    ),
}


def serve(world, name="serve-0", **settings):
    return Service(world, name, **{"evidence__database": evidence_path(world), **settings})


@case()
def what_the_gate_decides_is_indexed(world):
    """Every decision, hold and receipt of real traffic, once; counts agree; lag falls to nothing and is shown."""
    world.create_topics()
    for made in REASONS.values():
        world.prefer(made)
    gate = world.gate()
    gate.await_ready()
    service = serve(world).await_ready()
    reader = world.reader()
    users = [made["user_id"] for made in REASONS.values()] + ["u-unknown"]
    for number in range(400):
        world.send(candidate(f"n-{number}", users[number % len(users)]))
    world.send(b"no json", key=b"u-ok")
    world.flush()
    world.await_decided()
    receipt = {"notification_id": "n-0", "device_id": "d-1", "user_id": "u-ok", "provider": "apns"}
    world.write("receipts", b"u-ok", encode({**receipt, "status": "accepted", "at": "2026-06-01T00:00:00Z"}))
    world.flush()
    database, outputs = await_indexed(world, reader)
    decided = Counter((output.record["outcome"], output.record["reason"]) for output in outputs)
    expect_equal(set(REASONS) | {"unknown_user", "invalid_candidate"}, {reason for _, reason in decided}, "reasons")
    expect_equal(database.counts(), decided, "counts")
    until("the receipt is indexed", lambda: len(database.places("receipts")) == 1, 30)

    until("nothing is behind", lambda: service.metric("sendgate_evidence_lag_records") == 0, 30)
    expect_equal(service.metric("sendgate_evidence_unreadable_total"), 0, "records that are unreadable")
    expect_equal(service.metric("sendgate_evidence_records_total"), len(outputs) + 1, "records counted")
    told = "evidence (0 records behind, everything up to"
    until("/readyz says so", lambda: told in service.must("GET", "/readyz?verbose", role=None).body, 30)
    gate.drain()
    service.end()


@case()
def nothing_is_lost_or_doubled_by_kills(world):
    """kill -9 of serve again and again while it indexes 40,000 records; in the end each is there once and counted once."""
    world.create_topics()
    for name in ("approved", "dropped"):
        for number in range(20_000):
            # As the gate writes them, to any partition: the index asks for nothing else.
            world.write(name, b"u-1", decision(name, number), partition=number % 4)
    world.flush()
    reader = world.reader()
    database = EvidenceDatabase(world)
    killed_midway = 0
    for turn in range(6):
        service = serve(world, f"serve-{turn}").await_ready()
        before = indexed(database)
        until("some more are indexed", lambda b=before: indexed(database) > min(b, 39_999), 60, every=0.005)
        service.kill()
        killed_midway += 0 < indexed(database) < 40_000
    service = serve(world, "serve-last").await_ready()
    database, _ = await_indexed(world, reader)
    expect_equal(database.counts(), Counter({("approved", "ok"): 20_000, ("dropped", "expired"): 20_000}), "counts")
    expect(killed_midway > 0, "no kill came while it indexed")
    service.end()


def indexed(database):
    return database.ask("SELECT ifnull(sum(n), 0) FROM counts")[0][0]


def decision(outcome, number):
    reason = "ok" if outcome == "approved" else "expired"
    made = {"outcome": outcome, "reason": reason, "blocked_by": [reason], "notification_id": f"{outcome}-{number}"}
    made |= {"user_id": "u-1", "device_id": "d-1", "category": "social", "decided_at": "2026-11-30T12:00:00.000Z"}
    return encode({**made, "notification": {"payload": {"text": "x" * 300}}})


@case()
def holds_are_open_until_they_leave(world):
    """Held notifications are open holds with their due times; when they left, none is, and each is linked by its record."""
    world.create_topics(partitions=2)
    people = Sleepers(world, 20, 8)
    reader = world.reader()
    gate = world.gate(environment=people.zones.environment, **AT_ONCE)
    gate.await_ready()
    service = serve(world).await_ready()
    for number in range(20):
        people.send(number)
    world.flush()
    people.await_held(reader)
    reader.until("all have left", lambda read: sum(o.topic == "approved" for o in read) == 20, 60)
    database, outputs = await_indexed(world, reader)
    until("no hold is open", lambda: database.holds() == [], 30)
    expect_equal(database.counts()[("deferred", "quiet_hours_deferred")], 20, "deferrals counted")
    expect_equal(service.metric("sendgate_evidence_records_total", kind="hold_ended"), 20, "ends of holds")
    gate.drain()
    service.end()


def serve_with_drops(world, count):
    """A service that has so many drops of `first` in its index, and the index."""
    world.create_topics()
    service = serve(world).await_ready()
    write_drops(world, "first", count)
    database = EvidenceDatabase(world)
    until("the first are indexed", lambda: indexed(database) == count, 60)
    return service, database


@case()
def a_topic_made_anew_is_read_from_its_first_record(world):
    """Deleted and made anew while serve runs, and while it does not: told as an error, its new records are indexed, the old stay."""
    service, database = serve_with_drops(world, 200)

    world.delete_topic("dropped")
    time_to_notice(world)
    world.create_topics(only=["dropped"])
    # Fewer than before, so that its offsets tell.
    write_drops(world, "second", 40)
    until("the second are indexed", lambda: indexed(database) == 240, 90)
    expect(service.metric("sendgate_evidence_made_anew_total") > 0, "that it was made anew is not counted")
    expect("A topic was deleted and made anew" in service.output(), "that it was made anew is not told")
    service.end()

    world.delete_topic("dropped")
    time_to_notice(world)
    world.create_topics(only=["dropped"])
    # More than before, so that only the last record's own content tells.
    write_drops(world, "third", 400)
    service = serve(world, "serve-1").await_ready()
    until("the third are indexed", lambda: indexed(database) == 640, 90)
    expect_equal(service.metric("sendgate_evidence_gaps_total"), 0, "gaps")
    service.end()


def time_to_notice(world):
    until("the topic is gone", lambda: world.topics["dropped"] not in world.admin().list_topics(timeout=10).topics, 20)


def write_drops(world, name, count):
    for number in range(count):
        world.write("dropped", b"u-1", decision("dropped", f"{name}-{number}"), partition=number % 4)
    world.flush()


@case()
def records_that_are_gone_are_told_and_passed_by(world):
    """Records deleted before they were indexed: an error that names the place, and reading goes on behind them."""
    world.create_topics(partitions=1)
    service = serve(world).await_ready()
    write_one(world, 0, 50)
    database = EvidenceDatabase(world)
    until("the first are indexed", lambda: indexed(database) == 50, 60)
    service.end()
    write_one(world, 50, 150)
    cut(world, 100)
    service = serve(world, "serve-1").await_ready()
    until("what is left is indexed", lambda: indexed(database) == 100, 60)
    expect_equal(service.metric("sendgate_evidence_gaps_total"), 1, "gaps")
    expect("Records were gone before they were indexed" in service.output(), "the gap is not told")
    service.end()
    # What was indexed may go: that is no gap.
    cut(world, 150)
    write_one(world, 150, 160)
    service = serve(world, "serve-2").await_ready()
    until("what came since is indexed", lambda: indexed(database) == 110, 60)
    expect_equal(service.metric("sendgate_evidence_gaps_total"), 0, "gaps where none is")
    expect_equal(service.metric("sendgate_evidence_made_anew_total"), 0, "topics made anew where none is")
    service.end()


def write_one(world, first, end):
    for number in range(first, end):
        world.write("dropped", b"u-1", decision("dropped", number), partition=0)
    world.flush()


def cut(world, offset):
    """What stands before the offset is deleted, as retention does."""
    asked = world.admin().delete_records([TopicPartition(world.topics["dropped"], 0, offset)])
    for done in asked.values():
        done.result(30)


@case()
def an_erased_user_has_no_evidence(world):
    """After an erasure over HTTP nothing of the user is in the index, others' is; what the gate drops of an unknown user later is kept."""
    world.create_topics()
    service = serve(world).await_ready()
    for user in ("gone", "stays"):
        service.device(user, f"{user}-d", region="US")
    gate = world.gate()
    gate.await_ready()
    reader = world.reader()
    for number in range(20):
        for user in ("gone", "stays"):
            world.send(candidate(f"n-{user}-{number}", user))
    world.flush()
    world.await_decided()
    database, _ = await_indexed(world, reader)

    def of(user):
        return database.ask("SELECT count(*) FROM attempts WHERE user_id = ?", user)[0][0]

    expect_equal((of("gone"), of("stays")), (20, 20), "attempts before the erasure")
    service.must("DELETE", "/v1/users/gone", role="admin", status=204)
    until("the user's evidence is gone", lambda: of("gone") == 0, 30)
    expect_equal(of("stays"), 20, "attempts of the other user")
    until("the gate knows no such user", lambda: unknown(world, reader), 30, every=0.2)
    until("what came later is kept", lambda: of("gone") > 0, 30)
    rows = database.ask("SELECT count(*) FROM attempts WHERE user_id = 'gone' AND is_readable = 0")
    expect_equal(rows[0][0], 0, "unreadable rows")
    gate.drain()
    service.end()


def unknown(world, reader):
    """Asks the gate anew each time: a repeat is a duplicate."""
    found = world.decide(reader, candidate(f"late-{world.random.random()}", "gone"))
    return found[0].record["reason"] == "unknown_user"


@case()
def while_nothing_can_be_written_the_lag_is_told(world):
    """Another process has the database locked: service, metrics and `explain` say that the index is behind; then everything is there."""
    service, database = serve_with_drops(world, 20)
    lock = sqlite3.connect(evidence_path(world), timeout=10, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    write_drops(world, "second", 300)

    def behind():
        state = service.must("GET", "/v1/evidence/state", role="support").json
        return state["records_behind"] == 300 == service.metric("sendgate_evidence_lag_records")

    until("the lag is told", behind, 15)
    expect_equal(service.metric("sendgate_evidence_caught_up"), 0, "caught up")
    found = world.command("explain", "explain", "--config", world.config_path, *service.settings, "--user", "nobody")
    expect_equal(found.child.returncode, 66, "the exit code of what is not on record")
    expect("The index reaches up to" in found.output(), "that the index is behind is not said")
    expect_equal(indexed(database), 20, "what was indexed meanwhile")
    lock.execute("COMMIT")
    lock.close()
    until("the rest is indexed", lambda: indexed(database) == 320, 30)
    until("nothing is behind", lambda: service.metric("sendgate_evidence_lag_records") == 0, 30)
    until("it is caught up", lambda: service.metric("sendgate_evidence_caught_up") == 1, 30)
    service.end()

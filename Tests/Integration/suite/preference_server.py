"""The preference service on PostgreSQL: the same answers, and a server that is killed under it."""

import json

from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.postgres import Postgres
from harness.records import candidate, encode
from harness.service import Service
from harness.world import Background
from suite.preference_flow import newest


@case()
def a_server_keeps_what_a_file_keeps(world):
    """Choices, audit, events from Kafka, the gate's table, the command line and an erasure, with the store on PostgreSQL."""
    world.create_topics()
    server = Postgres(world)
    service = Service(world, **server.settings).await_ready()
    service.device("u-1", "d-1", region="US")
    service.choose("u-1", "social", "user-off", event_id="e-1")
    again = service.choose("u-1", "social", "user-off", event_id="e-1").json
    expect_equal(again["repeated"], True, "the same event again")
    event = {"event_id": "e-2", "user_id": "u-1", "at": "2026-03-01T00:00:00Z", "type": "choice_set"}
    event |= {"source": "in_app_settings", "scope": "account", "category": "marketing", "state": "user-on"}
    world.write("preferences.events", b"u-1", encode(event))
    world.flush()

    def categories():
        return service.must("GET", "/v1/users/u-1/preferences").json["account"]["categories"]

    until("the event from Kafka counts", lambda: "marketing" in categories(), 60)
    rows = service.must("GET", "/v1/users/u-1/audit", role="support").json["rows"]
    expect({"e-1", "e-2"} <= {row["event_id"] for row in rows}, f"the audit: {rows}")

    done = world.command(
        "command", "audit", "--user", "u-1", "--config", world.config_path, *service.settings, seconds=30
    )
    expect_equal(done.child.returncode, 0, f"exit code of audit:\n{done.output()}")
    with open(done.out_path, encoding="utf-8") as file:
        expect_equal([json.loads(line) for line in file], rows, "the audit by command")

    states = world.reader(["preferences.state"])
    read = service.must("GET", "/v1/users/u-1/preferences").json
    states.until("the newest document", lambda _: newest(states, "preferences.state", "u-1") == read, 60)
    gate = world.gate()
    gate.await_ready()
    outputs = world.reader()
    turn = [0]

    def reason():
        turn[0] += 1
        return world.decide(outputs, candidate(f"n-{turn[0]}", "u-1"))[0].record["reason"]

    until("the gate follows the opt-out", lambda: reason() == "account_opted_out", 60, every=0.2)
    expect_equal(service.ask("DELETE", "/v1/users/u-1").status, 204, "erasing")
    until("the gate has forgotten the user", lambda: reason() == "unknown_user", 60, every=0.2)
    gate.drain()
    service.end()
    for process in (service, done):
        expect(server.PASSWORD not in process.output(), f"{process.name} shows the password")


@case()
def a_killed_server_takes_nothing_that_was_answered(world):
    """kill -9 of PostgreSQL under writers: 503 while it is away, nothing answered is lost, and the service goes on by itself."""
    world.create_topics()
    server = Postgres(world)
    service = Service(world, **server.settings).await_ready()
    answered, refused = {}, []

    def write(user):
        def run(stopping):
            connection, count = service.connect(), 1
            while not stopping.is_set():
                body = {"state": ("user-on", "user-off")[count % 2], "source": "in_app_settings"}
                path = f"/v1/users/{user}/choices/social"
                answer = service.ask("PUT", path, body | {"event_id": f"e-{count}"}, "app", connection=connection)
                if answer.status == 200:
                    answered[user] = count
                    count += 1
                else:
                    refused.append(answer)
                    stopping.wait(0.05)

        return run

    users = [f"u-{number}" for number in range(4)]
    writers = [Background(write(user)) for user in users]

    def all_answered(more):
        known = dict(answered)
        until("every writer is answered", lambda: all(answered.get(u, 0) >= known.get(u, 0) + more for u in users), 60)

    all_answered(20)
    server.kill_server()
    until("writers are refused", lambda: len(refused) > 4, 30)
    expect_equal(service.ask("GET", "/readyz", role=None).status, 503, "/readyz without a database")
    expect_equal(service.ask("GET", "/v1/users/u-0/preferences").status, 503, "reading without a database")
    server.start_server()
    all_answered(20)
    for writer in writers:
        writer.stop()
    for answer in refused:
        expect_equal((answer.status, answer.json["code"]), (503, "store_unavailable"), "the answer while it was away")
        expect_equal(answer.headers["Retry-After"], "1", "Retry-After")
    service.await_ready()

    states = world.reader(["preferences.state"])
    for user in users:
        rows = service.must("GET", f"/v1/users/{user}/audit?limit=1000", role="support").json["rows"]
        events = [row["event_id"] for row in rows]
        expect_equal(events, [f"e-{number + 1}" for number in range(len(rows))], f"the audit of {user}")
        expect(answered[user] <= len(rows) <= answered[user] + 1, f"{user}: {answered[user]} answered, {len(rows)} kept")
        read = service.must("GET", f"/v1/users/{user}/preferences").json
        states.until(f"{user}'s newest document", lambda _: newest(states, "preferences.state", user) == read, 60)
        records = [record for record in states.read if record.key == user.encode()]
        versions = list(dict.fromkeys(json.loads(record.value)["version"] for record in records))
        expect_equal(versions, list(range(1, len(rows) + 1)), f"{user}'s versions, whichever came twice")
    service.end()
    expect("connection" in service.output().lower(), "the log does not name what was lost")


@case()
def another_process_takes_over(world):
    """Two services on one database: one publishes and reads Kafka; when it is killed, the other goes on, and nothing is missing."""
    world.create_topics()
    server = Postgres(world)
    first = Service(world, **server.settings).await_ready()
    second = Service(world, "serve-1", **server.settings).await_ready()
    second.wait_for_output("stands by", 30)
    for number in range(10):
        (first, second)[number % 2].choose("u-1", "social", ("user-on", "user-off")[number % 2])
    reader = world.reader(["preferences.state"])
    reader.until("what both wrote is published", lambda read: len(read) >= 10, 60)
    expect_equal([json.loads(record.value)["version"] for record in reader.read], list(range(1, 11)), "versions")
    first.kill()
    second.choose("u-1", "social", "user-on", event_id="last")
    reader.until("the other publishes", lambda read: json.loads(read[-1].value)["version"] == 11, 90)
    second.end()

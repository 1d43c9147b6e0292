"""kill -9 of the preference service while it is written to: the store, the topics and a gate's table tell the same story."""

import http.client
import json
import threading
import time

from harness.cases import case
from harness.checking import CheckFailed, expect, expect_equal, let_pass, until
from harness.prefer_model import EVENTS_A_USER, Person
from harness.records import candidate
from harness.service import Service
from harness.world import Background

USERS = 125
WRITERS = 5
KILLS = (1200, 2800, 4700, 6500, 8300)


class Restarted:
    """The service under its one address, through its deaths. `acknowledged` is how many writes were answered."""

    def __init__(self, world):
        self.world, self.number = world, 0
        self.running = Service(world).await_ready()
        self.port = self.running.port
        self.acknowledged, self.unanswered, self.lock = 0, 0, threading.Lock()

    def kill(self):
        self.running.kill()
        self.number += 1
        self.running = Service(self.world, f"serve-{self.number}", port=self.port)

    def write(self, connection, user, event):
        """The answer; asks again, with the same event, until there is one."""
        while True:
            try:
                answer = self.running.ask("POST", f"/v1/users/{user}/events", event, "app", connection=connection)
            except (OSError, http.client.HTTPException):
                connection.close()
                with self.lock:
                    self.unanswered += 1
                let_pass(0.02)
                continue
            if answer.status != 200:
                raise CheckFailed(f"{event}: {answer}")
            with self.lock:
                self.acknowledged += 1
            return answer.json


def write_all(service, people, number):
    """A writer's people, event by event in turn. Returns the work for a thread."""

    def work(_):
        connection = service.running.connect()
        for turn in range(EVENTS_A_USER):
            for person in people[number::WRITERS]:
                answer = service.write(connection, person.user, person.events[turn])
                person.answers.append(answer["outcome"])
        connection.close()

    return Background(work)


def rows_of(service, user):
    """All of a user's audit rows."""
    rows, after = [], 0
    while after is not None:
        page = service.must("GET", f"/v1/users/{user}/audit?limit=1000&after={after}", role="support").json
        rows, after = rows + page["rows"], page["next"]
    return rows


def check_audit(person, rows):
    """Every answered event that did something has its rows, once; the newest row of a field says what the field holds."""
    seen = [(row["event_id"], row["kind"], row["device_id"], row["category"], row["subject"]) for row in rows]
    expect_equal(len(seen), len(set(seen)), f"{person.user}: rows that are there twice")
    recorded = {row["event_id"] for row in rows}
    for event, outcome in zip(person.events, person.answers):
        if outcome == "applied":
            expect(event["event_id"] in recorded, f"{person.user}: {event} was answered, and has no row")
    expect(recorded <= {event["event_id"] for event in person.events}, f"{person.user}: a row of no event")
    for field, said in person.told_by(rows).items():
        expect_equal(said, person.held(field), f"{person.user}: {field} by the audit")


def check_topics(world, people, rows):
    """All audit rows are on their topic; each user's newest document is the store's, and versions never fell."""
    reader = world.reader(["preferences.state", "preferences.audit"])
    sequences, documents = set(), {}
    for record in reader.to_end():
        if record.topic == "preferences.audit":
            sequences.add(record.record["sequence"])
        else:
            documents.setdefault(record.key.decode(), []).append(record)
    expect_equal(sequences, {row["sequence"] for row in rows}, "rows on the audit topic")
    for person in people:
        versions = [record.record["version"] for record in documents[person.user]]
        expect_equal(versions, sorted(versions), f"{person.user}: versions on the topic")
        expect_equal(documents[person.user][-1].record, person.stored, f"{person.user}: the newest on the topic")
    return {user: found[-1].offset for user, found in documents.items()}


def check_gate(world, people, newest):
    """The running gate decides by each user's newest document, and its table, field by field, is what the store says."""
    outputs, turn = world.reader(), [0]

    def decided_by():
        turn[0] += 1
        for person in people:
            world.send(candidate(f"probe-{turn[0]}-{person.user}", person.user, "transactional"))
        world.flush()
        world.await_decided()
        found = {}
        for output in outputs.to_end():
            record = output.record
            if record["notification_id"].startswith(f"probe-{turn[0]}-"):
                found[record["user_id"]] = record["preference_offset"]
        return found

    until("the gate decides by the newest documents", lambda: decided_by() == newest, 30, every=0.2)
    words = [word for person in people for word in ("--user", person.user)]
    told = world.command("table", "table", "--config", world.config_path, *words)
    expect_equal(told.child.returncode, 0, f"exit code of table:\n{told.output()}")
    with open(told.out_path, encoding="utf-8") as file:
        lines = {line["user_id"]: line for line in map(json.loads, file)}
    for person in people:
        wanted = {**person.table(), "offset": newest[person.user]}
        expect_equal(lines[person.user], wanted, f"{person.user}: the gate's table")


@case()
def killed_in_the_middle_of_ten_thousand_writes(world):
    """10,000 writes over HTTP, kill -9 of serve five times among them, a gate running: nothing answered is lost, state, audit, topics and the gate's table agree."""
    world.create_topics()
    people = [Person(f"user-{number}", world.random) for number in range(USERS)]
    expect_equal(sum(len(person.events) for person in people), 10_000, "writes")
    service = Restarted(world)
    gate = world.gate()
    gate.await_ready()
    began = time.monotonic()
    writers = [write_all(service, people, number) for number in range(WRITERS)]
    for after in KILLS:
        threshold = after + world.random.randrange(300)
        until(f"{threshold} writes are answered", lambda: service.acknowledged >= threshold, 120, every=0.005)
        service.kill()
    for writer in writers:
        writer.join()
    expect_equal(service.acknowledged, 10_000, "answered writes")
    expect(service.unanswered >= len(KILLS), "no kill was noticed by a writer")
    print(f"{10_000 / (time.monotonic() - began):.0f} writes/s, {service.unanswered} asked again ...", end=" ", flush=True)

    running = service.running.await_ready()
    until("the outbox is empty", lambda: running.metric("sendgate_preferences_outbox_waiting") == 0, 60)
    rows = []
    for person in people:
        person.stored = running.must("GET", f"/v1/users/{person.user}/preferences").json
        expect_equal(person.stored, person.document(person.stored["version"]), f"{person.user}: the store")
        own = rows_of(running, person.user)
        check_audit(person, own)
        rows += own
    newest = check_topics(world, people, rows)
    check_gate(world, people, newest)
    gate.drain()
    running.end()

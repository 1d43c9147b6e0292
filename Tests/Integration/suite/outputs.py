"""The records that come out: contents, keys, partitions, headers."""

import json
import os
import subprocess

from harness.cases import case
from harness.checking import expect, expect_equal, until_equal
from harness.murmur2 import partition_of
from harness.records import ALL_DAY, candidate, choice, device, document, window_around_now, window_far_from_now
from harness.verify import check_all
from harness.world import first_decisions, outputs_of

ZONES = ("Asia/Kolkata", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "US/Eastern")


def varied_documents():
    """Users that bring about every reason that needs no state, by user id."""
    zone = ZONES[0]
    open_now = window_around_now(zone)
    made = [
        document("plain"),
        document("none", devices=[]),
        document("account-off", categories={"social": choice("user-off"), "marketing": choice("user-off")}),
        document("device-off", devices=[device(categories={"transactional": choice("user-off")})]),
        document("muted", muted_subtypes={"social": ["like"]}),
        document("held", suppressions=["legal_hold"]),
        document("abuse", devices=[device(suppressions=["abuse_hold", "bounced"])]),
        document("denied", devices=[device(os_permission="denied", token_status="expired")]),
        document("revoked", devices=[device(token_status="revoked")]),
        document("provisional", devices=[device(os_permission="provisional")]),
        document("quiet", devices=[device(timezone=zone)], quiet_hours=open_now),
        document("quiet-all-day", devices=[device()], quiet_hours=ALL_DAY),
        document("later", devices=[device(timezone="Europe/Berlin")], quiet_hours=window_far_from_now("Europe/Berlin")),
        document("bad-window", devices=[device(quiet_hours={"start": "25:99", "end": ""})]),
        document("german", devices=[device(region="DE", categories={"marketing": choice("user-on")})]),
        document("german-undated", devices=[device(region="DE", categories={"marketing": choice("user-on", at=None)})]),
        document("sms", sms=choice("user-on")),
        document("fallback-zone", devices=[device(timezone="Nowhere/Else")], quiet_hours=ALL_DAY),
        document(
            "many",
            devices=[device(f"d-{number}", timezone=zone) for number, zone in enumerate(ZONES)],
            quiet_hours={"start": "22:00", "end": "08:00", "days": ["mon", "wed", "sat"]},
            timezone="Europe/Berlin",
        ),
    ]
    return {each["user_id"]: each for each in made}


SHAPES = (
    ("social", {"event": "like", "subtype": "like"}),
    ("social", {"subtype": "comment", "collapse_key": "k", "expires_at": "2100-01-01T00:00:00+02:00"}),
    ("marketing", {"event": "promotion", "payload": {"title": "ünïcode 🦊", "n": 1.50}}),
    ("transactional", {"event": "order_shipped", "sms_fallback": True}),
    ("transactional", {"event": "payment_failed"}),
    ("transactional", {"expires_at": "2001-01-01T00:00:00Z"}),
    ("security", {"event": "password_reset"}),
    ("security", {"event": "2fa_code", "critical": True}),
    ("social", {"event": "promotion"}),
    ("social", {"device_id": "d-1"}),
    ("social", {"device_id": "no-such"}),
    ("loyalty", {}),
    ("social", {"payload": {"t": "x" * 5000}}),
)


@case()
def every_output_by_contract_and_oracle(world):
    """Each output of 250 varied candidates holds by its schema and is what an oracle decides at its decided_at."""
    world.create_topics()
    users = varied_documents()
    for made in users.values():
        world.prefer(made, flush=False)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    due = 0
    for user_id in [*users, "unknown"]:
        devices = len(users[user_id]["devices"]) if user_id in users else 0
        for number, (category, members) in enumerate(SHAPES):
            world.send(candidate(f"n-{user_id}-{number}", user_id, category, **members))
            due += 1
        for event in ("suspicious_login", "login_alert"):
            made = candidate(f"s-{user_id}-{event}", user_id, "security", event=event, critical=event[0] == "s")
            world.send(made, security=True)
        due += 2 + devices
    world.flush()
    reader.until("an output of every candidate", lambda read: len(ids(read)) == len(world.candidates), 60)
    gate.drain()
    outputs = first_decisions(reader.to_end())
    check_all(world, outputs)
    seen = {output.record["reason"] for output in outputs}
    wanted = set(
        "unknown_category category_mismatch payload_too_large critical_not_allowed expired unknown_user unknown_device"
        " no_devices suppressed_legal_hold suppressed_abuse_hold no_gdpr_consent account_opted_out device_opted_out"
        " subtype_muted os_permission_denied token_revoked quiet_hours_dropped quiet_hours_deferred"
        " quiet_hours_bypassed ok".split()
    )
    expect(wanted <= seen, f"reasons that did not come up: {sorted(wanted - seen)}")
    # One record for each device, or one for the candidate, and no more.
    pairs = [(output.record["notification_id"], output.record["device_id"]) for output in outputs]
    expect_equal(len(pairs), len(set(pairs)), "records against distinct (notification, device)")


def ids(outputs):
    return {output.header("notification_id") for output in first_decisions(outputs)}


@case()
def headers_are_carried_and_ours_set(world):
    """A candidate's headers reach every output in order; the gate's own three are stripped and set anew."""
    world.create_topics()
    world.prefer(document("u-1", devices=[device("d-1"), device("d-2", os_permission="denied")]))
    gate = world.gate()
    reader = world.reader()
    headers = [
        ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("outcome", b"approved by whom"),
        ("twice", b"1"),
        ("reason", b"ok"),
        ("twice", b"2"),
        ("empty", b""),
        ("null", None),
        ("notification_id", b"n-other"),
        ("bytes", bytes(range(256))),
        ("Outcome", b"another name"),
    ]
    outputs = world.decide(reader, candidate("n-1", "u-1"), count=2, headers=headers)
    expect_equal(sorted(output.topic for output in outputs), ["approved", "dropped"], "where the two devices' went")
    bad = world.send(b"not json", key=b"u-1", headers=headers)
    world.flush()
    reader.count(3)
    gate.drain()
    read = reader.to_end()
    check_all(world, read)
    (invalid,) = [output for output in read if output.record["reason"] == "invalid_candidate"]
    carried = [pair for pair in invalid.headers if pair[0] not in ("outcome", "reason", "notification_id")]
    wanted = [pair for pair in bad.headers if pair[0] not in ("outcome", "reason", "notification_id")]
    expect_equal(carried, wanted, "headers of an unreadable candidate")
    expect_equal(invalid.header("reason"), b"invalid_candidate", "its reason header")
    expect(invalid.header("notification_id") in (None, b""), "its notification_id header")


@case()
def headers_that_are_too_large_are_left_out(world):
    """A candidate whose headers make its decision larger than a record may be is decided without them, and counted."""
    world.create_topics()
    world.prefer(document("u-1"))
    gate = world.gate()
    # What fits here is refused by the gate's own producer, which takes a million bytes.
    producer = world.new_producer(**{"message.max.bytes": 1_048_000})
    large = [("traceparent", b"00-1"), ("baggage", b"x" * 1_000_500)]
    world.send(candidate("n-1", "u-1"), headers=large, producer=producer)
    producer.flush(30)
    reader = world.reader()
    (first,) = reader.count(1)
    expect_equal(first.record["reason"], "ok", "the decision")
    expect_equal({name for name, _ in first.headers}, {"outcome", "reason", "notification_id"}, "its headers")
    (second,) = world.decide(reader, candidate("n-2", "u-1"), headers=large[:1])
    expect_equal(second.header("traceparent"), b"00-1", "the next one's header")

    def counted():
        return [gate.value("sendgate_headers_left_out_total", lane=lane) for lane in ("ordinary-0", "security-0")]

    until_equal(counted, [1, 0], "records without headers")
    gate.wait_for_output("without their candidates' headers")
    gate.drain()


@case()
def keys_and_partitions(world):
    """What comes of partition p goes to p under the user's key, on all three topics and from both lanes."""
    world.create_topics(partitions=6, security=3)
    users = [f"user-{number}" for number in range(60)]
    for user_id in users:
        world.prefer(
            document(
                user_id,
                devices=[device("d-1"), device("d-2", quiet_hours=ALL_DAY), device("d-3", token_status="revoked")],
            ),
            flush=False,
        )
    world.flush()
    gate = world.gate()
    reader = world.reader()
    for user_id in users:
        world.send(candidate(f"n-{user_id}", user_id, "transactional"))
        world.send(candidate(f"s-{user_id}", user_id, "security", event="login_alert"), security=True)
    world.flush()
    reader.count(len(users) * 6, 60)
    gate.drain()
    outputs = reader.to_end()
    expect_equal(len(outputs), len(users) * 6, "outputs")
    check_all(world, outputs)
    expect_equal({output.topic for output in outputs}, {"approved", "deferred", "dropped"}, "topics")
    for output in outputs:
        record = output.record
        count = 3 if record["category"] == "security" else 6
        wanted = partition_of(record["user_id"].encode(), count)
        expect_equal(output.partition, wanted, f"murmur2's partition of {record['user_id']} of {count}")


@case()
def order_within_a_user_and_device_order(world):
    """A user's candidates come out in the order they went in, a fan-out in the order of the document's devices."""
    world.create_topics()
    names = ["d-9", "d-1", "d-5"]
    world.prefer(document("u-1", devices=[device(name) for name in names]))
    gate = world.gate()
    reader = world.reader()
    for number in range(200):
        world.send(candidate(f"n-{number}", "u-1"))
    world.flush()
    reader.count(600)
    gate.drain()
    got = [(output.record["notification_id"], output.record["device_id"]) for output in reader.to_end()]
    expect_equal(got, [(f"n-{number}", name) for number in range(200) for name in names], "the order")


@case()
def at_least_once(world):
    """delivery=at_least_once decides the same and commits its offsets; after a clean stop nothing comes twice."""
    world.create_topics()
    for number in range(20):
        world.prefer(document(f"u-{number}", devices=[device(), device("d-2", quiet_hours=ALL_DAY)]), flush=False)
    world.flush()
    reader = world.reader()
    for turn in range(2):
        gate = world.gate(f"gate-0/{turn}", delivery="at_least_once")
        for number in range(1000):
            world.send(candidate(f"n-{turn}-{number}", f"u-{number % 20}", "transactional"))
        world.flush()
        reader.count(2000 * (turn + 1), 60)
        world.await_decided()
        gate.drain()
    outputs = reader.to_end()
    expect_equal(len(outputs), 4000, "outputs")
    expect_equal(len({(o.record["notification_id"], o.record["device_id"]) for o in outputs}), 4000, "distinct outputs")
    check_all(world, outputs[::37])


@case()
def evaluate_and_run_agree(world):
    """What `run` wrote, `evaluate` writes too from the same candidate and document at the same instant."""
    world.create_topics(partitions=1, security=1)
    users = varied_documents()
    for made in users.values():
        world.prefer(made, flush=False)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    for user_id in users:
        world.send(candidate(f"n-{user_id}", user_id, "marketing", event="promotion", payload={"a": [1, 2]}))
    world.flush()
    reader.until("an output of every candidate", lambda read: len(ids(read)) == len(users), 60)
    gate.drain()
    preferences = os.path.join(world.directory, "preferences.jsonl")
    with open(preferences, "wb") as file:
        file.writelines(sent.value + b"\n" for sent in world.documents)
    sent = {each.key.decode(): each.value for each in world.candidates}
    for user_id in users:
        mine = outputs_of(reader.to_end(), f"n-{user_id}")
        command = [world.sendgate, "evaluate", "--preferences", preferences, "--now", mine[0].record["decided_at"]]
        answer = subprocess.run(command, input=sent[user_id] + b"\n", capture_output=True, timeout=60, check=True)
        lines = [json.loads(line) for line in answer.stdout.splitlines()]
        # Devices that differ in their outcome are on different topics, which have no order between them.
        lines.sort(key=lambda line: line["device_id"] or "")
        mine.sort(key=lambda output: output.record["device_id"] or "")
        for line, output in zip(lines, mine, strict=True):
            for record in (line, output.record):
                # A file has offsets of its own.
                record.pop("preference_offset")
            expect_equal(line, output.record, f"evaluate's record of {user_id}")

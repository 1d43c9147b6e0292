"""The commands beside `run` that talk to a broker."""

import json
import os
from datetime import datetime, timezone

from harness.cases import case
from harness.checking import expect, expect_equal
from harness.murmur2 import partition_of
from harness.records import candidate, device, document, encode
from harness.verify import ROOT, check_all
from harness.world import first_decisions


def lines_file(world, name, lines):
    path = os.path.join(world.directory, name)
    with open(path, "wb") as file:
        file.writelines(line + b"\n" for line in lines)
    return path


def sendgate(world, name, *words, stdin=None, seconds=60):
    """Runs a command with the world's configuration behind its words; the process."""
    if stdin is None:
        return world.command(name, *words, "--config", world.config_path, seconds=seconds)
    with open(stdin, "rb") as file:
        return world.command(name, *words, "--config", world.config_path, stdin=file, seconds=seconds)


@case()
def topics_create_and_check(world):
    """`topics create` makes what is missing, with counts and cleanup by the contract; twice is once; `check` agrees."""
    absent = sendgate(world, "check-absent", "topics", "check")
    expect(absent.child.returncode != 0, "check is content without topics")
    for topic in world.topics.values():
        expect(topic in absent.output(), f"{topic} is not named as missing")
    for turn in range(2):
        made = sendgate(world, f"create-{turn}", "topics", "create")
        expect_equal(made.child.returncode, 0, f"create's exit code, turn {turn}:\n{made.output()}")
    checked = sendgate(world, "check", "topics", "check")
    expect_equal(checked.child.returncode, 0, f"check's exit code:\n{checked.output()}")
    known = world.admin().list_topics(timeout=10).topics
    for name, topic in world.topics.items():
        wanted = 2 if name.endswith(".security") else 4
        if name not in ("preferences.defaults", "preferences.events", "preferences.audit"):
            expect_equal(len(known[topic].partitions), wanted, f"partitions of {topic}")


@case("admin")
def topics_check_names_what_is_wrong(world):
    """`topics check` names each wrong count and cleanup policy, with what is there and what is wanted."""
    world.create_topics(
        counts={"approved": 3},
        config={"preferences.state": {"cleanup.policy": "delete"}, "dropped": {"cleanup.policy": "compact"}},
    )
    checked = sendgate(world, "check", "topics", "check")
    expect(checked.child.returncode != 0, "check is content")
    told = checked.output()
    for name in ("approved", "preferences.state", "dropped"):
        expect(world.topics[name] in told, f"{world.topics[name]} is not named")
    for word in ("3", "4", "compact", "delete"):
        expect(word in told, f"{word!r} is not said")


@case()
def publish_and_decide(world):
    """What `publish` writes is keyed and partitioned as every client does it, and the gate decides all of it."""
    world.create_topics(partitions=6, security=3)
    users = [f"user-{number}" for number in range(50)] + ["ünï", "a b", "x" * 128]
    documents = lines_file(world, "documents", [encode(document(user_id)) for user_id in users])
    plain = [encode(candidate(f"n-{user_id[:20]}", user_id)) for user_id in users]
    alerts = [encode(candidate(f"s-{user_id[:20]}", user_id, "security", event="login_alert")) for user_id in users]
    for name, words, lines in (
        ("publish-preferences", ["--preferences"], documents),
        ("publish", [], lines_file(world, "candidates", plain)),
        ("publish-security", ["--source", "security"], lines_file(world, "alerts", alerts)),
    ):
        done = sendgate(world, name, "publish", *words, stdin=lines)
        expect_equal(done.child.returncode, 0, f"exit code of {name}:\n{done.output()}")
    written = world.reader(["candidate", "candidate.security", "preferences.state"])
    read = written.to_end()
    expect_equal(len(read), 3 * len(users), "records published")
    for record in read:
        user_id = json.loads(record.value)["user_id"].encode()
        expect_equal(record.key, user_id, "the key")
        count = 3 if record.topic == "candidate.security" else 6
        expect_equal(record.partition, partition_of(user_id, count), "the partition by murmur2")
    gate = world.gate()
    reader = world.reader()
    outputs = reader.count(2 * len(users))
    gate.drain()
    expect_equal({(o.topic, o.record["reason"]) for o in outputs}, {("approved", "ok")}, "decisions")


@case()
def publish_refuses_what_would_be_invalid(world):
    """`publish` refuses at once, by line number and reason, what the gate would call invalid."""
    world.create_topics()
    good = encode(candidate("n-1", "u-1"))
    for name, bad in {
        "no-json": b"hello",
        "no-user": b'{"notification_id":"n","category":"social"}',
        "bad-instant": encode(candidate("n-1", "u-1", expires_at=5)),
        "twice": good[:-1] + b',"category":"social"}',
        "long": encode(candidate("n-1", "u-1", x="y" * 70_000)),
        "bytes": b'{"a":"\xc3\x28"}',
    }.items():
        done = sendgate(world, f"publish-{name}", "publish", stdin=lines_file(world, name, [good, good, bad, good]))
        expect_equal(done.child.returncode, 65, f"exit code for {name}:\n{done.output()}")
        expect("3" in done.output(), f"line 3 is not named for {name}:\n{done.output()}")
    mixed = [good, encode(candidate("n-1", "u-1", "social"))]
    done = sendgate(world, "wrong", "publish", "--source", "security", stdin=lines_file(world, "mixed", mixed))
    expect_equal(done.child.returncode, 65, "exit code for social on the security topic")
    bad_document = [encode(document("u-1", devices=[device(os_permission="maybe")]))]
    done = sendgate(world, "documents", "publish", "--preferences", stdin=lines_file(world, "bad", bad_document))
    expect_equal(done.child.returncode, 65, "exit code for an unreadable document")


@case()
def generated_workload_is_decided(world):
    """`generate`'s users and candidates go through `publish` and the gate: none invalid, all by contract and oracle."""
    world.create_topics()
    folder = os.path.join(world.directory, "workload")
    start = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    words = ["--users", "500", "--candidates", "2000", "--seed", "7", "--start", start, "--out", folder]
    words += ["--places", ROOT / "deploy/places.tsv"]
    done = world.command("generate", "generate", *words)
    expect_equal(done.child.returncode, 0, f"exit code of generate:\n{done.output()[:500]}")
    made = {}
    for name in ("preferences", "candidates", "security"):
        with open(os.path.join(folder, f"{name}.jsonl"), "rb") as file:
            made[name] = file.read().splitlines()
    for line in made["preferences"]:
        world.prefer(line, json.loads(line)["user_id"], flush=False)
    world.flush()
    gate = world.gate()
    reader = world.reader()
    for name in ("candidates", "security"):
        for line in made[name]:
            world.send(line, name == "security", key=json.loads(line)["user_id"].encode())
    world.flush()
    due = {json.loads(sent.value)["notification_id"].encode() for sent in world.candidates}
    expect_equal(len(due), 2000, "candidates generated")
    reader.until(
        "an output of every candidate",
        lambda read: {output.header("notification_id") for output in first_decisions(read)} == due,
        60,
    )
    gate.drain()
    outputs = first_decisions(reader.to_end())
    expect(not [o for o in outputs if o.record["reason"] == "invalid_candidate"], "generated candidates are invalid")
    check_all(world, outputs[:: max(1, len(outputs) // 300)])

"""Candidates that cannot be decided: dropped with a reason and their bytes, and the partition moves on."""

import base64
import hashlib

from harness.cases import case
from harness.checking import CheckFailed, expect, expect_equal
from harness.murmur2 import partition_of
from harness.records import candidate, document, encode
from harness.verify import check_all, check_schema
from harness.world import outputs_of

KEPT_BYTES = 32 * 1024
PARTITIONS = 4


def text(**members):
    return encode(candidate("n-h", "u-1", **members))


def nested(depth, name="x"):
    """A candidate with `depth` levels in all: its own, and arrays in one member."""
    brackets = "[" * (depth - 1) + "]" * (depth - 1)
    return b'{"notification_id":"n-h","user_id":"u-1","category":"social","%s":%s}' % (name.encode(), brackets.encode())


def with_bytes(bad):
    return b'{"notification_id":"n-h","user_id":"u-1","category":"social","event":"' + bad + b'"}'


# What each record is, and its value. Each goes under the key u-1 to that key's partition.
INVALID_VALUES = {
    # C099 to C101: instants in no form that is allowed.
    **{
        f"expires_at {instant!r}": text(expires_at=instant)
        for instant in (
            1784784205,
            "1784784205932",
            1784784205.932,
            1784784205932000,
            2147483647,
            -1,
            0,
            253402300800,
            "2026-01-15T07:00:00",
            "2026-02-30T07:00:00Z",
            "2026-01-15T25:00:00Z",
            "2026-01-15T06:00:00\u22121:00",
            "1999-12-31T23:59:59Z",
            "2300-01-01T00:00:00Z",
            "tomorrow",
            "",
            True,
            [],
        )
    },
    **{
        f"created_at {instant!r}": text(created_at=instant)
        for instant in (2147483647, -1, 0, 253402300800, "9999999999999", "2262-04-11T23:47:16Z", {})
    },
    # C102: ids that are numbers.
    "user_id a number": b'{"notification_id":"n-h","user_id":9007199254740993,"category":"social"}',
    "notification_id a number": b'{"notification_id":9007199254740993,"user_id":"u-1","category":"social"}',
    "notification_id 1e3": b'{"notification_id":1e3,"user_id":"u-1","category":"social"}',
    # C104: bytes that are no text.
    "C3 28": with_bytes(b"\xc3\x28"),
    "a surrogate in UTF-8": with_bytes(b"\xed\xa0\x80"),
    "past U+10FFFF": with_bytes(b"\xf4\x90\x80\x80"),
    "overlong": with_bytes(b"\xc0\xaf"),
    "a cut emoji": with_bytes(b"\xf0\x9f\xa6"),
    "the report's bytes": bytes.fromhex("7b2261223a22c328227d"),
    "NUL in an id": b'{"notification_id":"n\\u0000h","user_id":"u-1","category":"social"}',
    "a raw NUL": with_bytes(b"\x00"),
    "a byte order mark": b"\xef\xbb\xbf" + text(),
    # C106: members twice.
    "category twice": text()[:-1] + b',"category":"security"}',
    "category twice, escaped": text()[:-1] + b',"c\\u0061tegory":"social"}',
    "an unknown member twice, nested": text()[:-1] + b',"x":{"a":1,"a":2}}',
    # C107: depth.
    "depth 65": nested(65),
    "depth 10,000": nested(10_000),
    "30,000 open brackets": b'{"x":' + b"[" * 30_000,
    "500,000 brackets in an ignored member": nested(250_000),
    # C112: missing, null, of another type, empty, too long.
    **{
        f"{name} {what}": encode({k: v for k, v in {**candidate("n-h", "u-1"), name: value}.items() if v is not ...})
        for name in ("notification_id", "user_id", "category")
        for what, value in {"missing": ..., "null": None, "a list": [], "true": True}.items()
    },
    "notification_id empty": encode(candidate("", "u-1")),
    "user_id empty": encode(candidate("n-h", "")),
    "notification_id of 129 bytes": encode(candidate("n" * 129, "u-1")),
    "event of 65 bytes": text(event="e" * 65),
    "event a number": text(event=5),
    "critical a text": text(critical="true"),
    "payload a list": text(payload=[1]),
    "payload a text": text(payload="{}"),
    # Not JSON, not one object.
    "empty": b"",
    "no JSON": b"hello",
    "a list": b"[]",
    "a number": b"12",
    "null": b"null",
    "cut": text()[:-1],
    "something behind it": text() + b" {}",
    "a trailing comma": text()[:-1] + b",}",
    "NaN": text()[:-1] + b',"x":NaN}',
    # Size.
    "65,537 bytes": text(x="")[:-2] + b"x" * (65_537 - len(text(x=""))) + b'"}',
    "900,000 bytes": text(x="")[:-2] + b"x" * (900_000 - len(text(x=""))) + b'"}',
    "900,000 bytes of nothing": bytes(900_000),
}

# Odd, but to be decided.
VALID_VALUES = {
    "depth 64": nested(64),
    "65,536 bytes": text(x="")[:-2] + b"x" * (65_536 - len(text(x=""))) + b'"}',
    "nulls": text(subtype=None, event=None, critical=None, expires_at=None, payload=None, device_id=None),
    "white space": b" \t\r\n" + text() + b"\n ",
    "an instant with an offset": text(expires_at="2099-01-15T07:00:00+01:00"),
    "an instant in milliseconds": text(expires_at=4_000_000_000_000),
    "2038": text(created_at="2038-01-19T03:14:07Z"),
    "2106": text(created_at="2106-02-07T06:28:16Z"),
    "a payload with members twice": text()[:-1] + b',"payload":{"a":1,"a":2}}',
    "huge numbers": text()[:-1] + b',"x":1e400,"y":123456789012345678901234567890}',
    "category empty": text(category=""),
    "another case": text(category="Marketing"),
    "a new category": text(category="promo2"),
}


def witness(number, partition):
    """A user and a good candidate on that partition."""
    user_id = next(u for n in range(10_000) if partition_of((u := f"w{n}").encode(), PARTITIONS) == partition)
    return candidate(f"n-witness-{partition}-{number}", user_id)


def with_witnesses(world, records, security=False):
    """Sends each record with a good candidate of its partition behind it; returns (what, sent) and the outputs."""
    for partition in range(PARTITIONS):
        world.prefer(document(witness(0, partition)["user_id"]), flush=False)
    world.prefer(document("u-1"))
    gate = world.gate()
    reader = world.reader()
    sent = []
    for number, (what, key, value, partition) in enumerate(records):
        sent.append((what, world.send(value, security, key=key, partition=partition)))
        good = witness(number, partition)
        world.send({**good, "category": "security"} if security else good, security, partition=partition)
    world.flush(120)
    refused = [(what, each.error) for what, each in sent if each.error is not None]
    expect(not refused, f"the broker refused {refused}")
    reader.count(2 * len(sent), 90)
    gate.drain()
    outputs = reader.to_end()
    for number, (_, _, _, partition) in enumerate(records):
        (output,) = outputs_of(outputs, f"n-witness-{partition}-{number}")
        expect_equal((output.topic, output.record["reason"]), ("approved", "ok"), "the candidate behind it")
    expect_equal(len(outputs), 2 * len(sent), "outputs")
    return sent, outputs


def check_invalid(what, sent, outputs):
    """The record that tells of an invalid candidate; taken out of `outputs`."""
    value = sent.value or b""
    kept = base64.b64encode(value[:KEPT_BYTES]).decode() if sent.value is not None else None
    allowed = (kept,) if sent.value is not None else (None, "")
    for output in outputs:
        record = output.record
        same = record["reason"] == "invalid_candidate" and record.get("notification_base64", "") in allowed
        # Two of one beginning differ in their digest.
        digest = hashlib.sha256(value).hexdigest()
        if same and output.partition == sent.partition and record.get("sha256", digest) == digest:
            break
    else:
        raise CheckFailed(f"no invalid_candidate record with the bytes of: {what}")
    outputs.remove(output)
    if sent.value is not None:
        check_schema(output)
    expect_equal(record["blocked_by"], ["invalid_candidate"], f"blocked_by of {what}")
    expect(isinstance(record["detail"], str) and record["detail"], f"no detail for {what}")
    if len(value) > KEPT_BYTES:
        expect_equal(record.get("bytes"), len(value), f"bytes of {what}")
        expect_equal(record.get("sha256"), digest, f"sha256 of {what}")
    else:
        expect("sha256" not in record or record["sha256"] is None, f"a digest for the short {what}")
    return record


@case()
def unreadable_values(world):
    """Group G: every unreadable value is dropped as invalid_candidate with its bytes, and what follows is decided."""
    world.create_topics(PARTITIONS, 2)
    home = partition_of(b"u-1", PARTITIONS)
    sent, outputs = with_witnesses(world, [(what, b"u-1", value, home) for what, value in INVALID_VALUES.items()])
    for what, each in sent:
        record = check_invalid(what, each, outputs)
        wanted = "key_mismatch", "partition_mismatch", "category_not_for_topic"
        expect(record["detail"] not in wanted, f"detail {record['detail']} for {what}, whose key is right")


@case()
def odd_values_are_decided(world):
    """Group G: what is odd but allowed is decided like anything else, its bytes unchanged."""
    world.create_topics(PARTITIONS, 2)
    home = partition_of(b"u-1", PARTITIONS)
    # Each under an id of its own, as long as the one it replaces: a repeated id would be a duplicate.
    values = {
        what: value.replace(b'"n-h"', b'"o%02d"' % number) for number, (what, value) in enumerate(VALID_VALUES.items())
    }
    sent, outputs = with_witnesses(world, [(what, b"u-1", value, home) for what, value in values.items()])
    for what, each in sent:
        mine = [output for output in outputs if each.value.strip() in output.value]
        expect_equal(len(mine), 1, f"outputs with the unchanged bytes of {what}")
        wanted = "unknown_category" if "categor" in what or "case" in what else "ok"
        expect_equal(mine[0].record["reason"], wanted, f"the reason of {what}")
    check_all(world, outputs)


def key_records():
    home = partition_of(b"u-1", PARTITIONS)
    away = (home + 1) % PARTITIONS
    good = text()
    for what, key in {
        "a null key": None,
        "an empty key": b"",
        "another user's key": b"u-2",
        "upper case": b"U-1",
        "a trailing space": b"u-1 ",
        "a NUL behind": b"u-1\0",
        "invalid UTF-8": b"\xff\xfe",
        "a key of 10,000 bytes": b"k" * 10_000,
    }.items():
        for partition in (home, away):
            yield f"{what}, partition {partition}", key, good, partition, "key_mismatch"
    yield "the wrong partition", b"u-1", good, away, "partition_mismatch"
    yield "the null value", b"u-1", None, home, None
    yield "null key and value", None, None, away, None
    yield "user_id empty, key empty", b"", encode(candidate("n-h", "")), home, None
    yield "a long record of another key", b"u-2", text(x="x" * 100_000), home, None


@case()
def keys_and_null_values(world):
    """C112, C113, C131: null, empty, foreign keys, wrong partitions and null values are dropped with their detail."""
    world.create_topics(PARTITIONS, 2)
    records = list(key_records())
    sent, outputs = with_witnesses(world, [record[:4] for record in records])
    for (what, each), (_, _, _, _, detail) in zip(sent, records, strict=True):
        record = check_invalid(what, each, outputs)
        if detail is not None:
            expect_equal(record["detail"], detail, f"the detail of {what}")
            expect_equal(record["user_id"], "u-1", f"the user that could be read of {what}")


@case()
def security_topic_takes_security_alone(world):
    """Other categories on the security topic are invalid there (category_not_for_topic); hostile bytes pass too."""
    world.create_topics(PARTITIONS, PARTITIONS)
    home = partition_of(b"u-1", PARTITIONS)
    records = [
        (f"{category} there", b"u-1", text(category=category), home)
        for category in ("social", "marketing", "transactional", "promo", "")
    ]
    records += [
        (what, b"u-1", INVALID_VALUES[what], home) for what in ("no JSON", "C3 28", "900,000 bytes", "depth 65")
    ]
    sent, outputs = with_witnesses(world, records, security=True)
    for what, each in sent:
        record = check_invalid(what, each, outputs)
        if what.endswith(" there"):
            expect_equal(record["detail"], "category_not_for_topic", f"the detail of {what}")


@case()
def critical_from_the_ordinary_topic(world):
    """C087: critical is refused on the ordinary topic and for events off the allow-list, from the security topic too."""
    world.create_topics()
    world.prefer(document("u-1"))
    gate = world.gate()
    reader = world.reader()
    world.send(candidate("n-1", "u-1", "security", event="2fa_code", critical=True))
    world.send(candidate("n-2", "u-1", "social", critical=True))
    world.send(candidate("n-3", "u-1", "security", event="login_alert", critical=True), security=True)
    world.send(candidate("n-4", "u-1", "security", event="2fa_code"), security=True)
    world.flush()
    reader.count(4)
    gate.drain()
    outputs = reader.to_end()
    got = {output.record["notification_id"]: output.record for output in outputs}
    for name in ("n-1", "n-2", "n-3"):
        expect_equal(got[name]["reason"], "critical_not_allowed", f"the reason of {name}")
    expect_equal((got["n-4"]["outcome"], got["n-4"]["critical"]), ("approved", True), "a 2FA code")
    check_all(world, outputs)


@case()
def large_records_compressed(world):
    """C129: legal and oversized bodies from a compressing producer are decided or dropped, and the transaction commits."""
    world.create_topics(PARTITIONS, 2)
    world.prefer(document("u-1"))
    gate = world.gate()
    reader = world.reader()
    for codec in ("zstd", "lz4", "gzip", "snappy"):
        producer = world.new_producer(**{"compression.type": codec, "message.max.bytes": 1_000_000})
        for number in range(3):
            world.send(candidate(f"n-{codec}-ok-{number}", "u-1", x="y" * 60_000), producer=producer)
            world.send(candidate(f"n-{codec}-{number}", "u-1", x="y" * 900_000), producer=producer)
            world.send(candidate(f"n-{codec}-payload-{number}", "u-1", payload={"t": "z" * 20_000}), producer=producer)
        expect_equal(producer.flush(60), 0, f"records of the {codec} producer left")
    reader.count(36, 60)
    world.await_decided()
    gate.drain()
    outputs = reader.to_end()
    reasons = sorted(output.record["reason"] for output in outputs)
    expect_equal(reasons, ["invalid_candidate"] * 12 + ["ok"] * 12 + ["payload_too_large"] * 12, "reasons")
    check_all(world, outputs)


@case()
def hostile_headers(world):
    """C107: headers of any shape neither stop a partition nor change a decision."""
    world.create_topics(PARTITIONS, 2)
    world.prefer(document("u-1"))
    gate = world.gate()
    reader = world.reader()
    shapes = [
        [("x" * 1000, b"y" * 100_000)],
        [(f"h{n}", b"v") for n in range(2000)],
        [("outcome", None)] * 50,
        [("", b"no name")],
        [("traceparent", b"[" * 50_000)],
        [("ünïcode", b"\xff\x00")],
    ]
    for number, headers in enumerate(shapes):
        outputs = world.decide(reader, candidate(f"n-{number}", "u-1"), headers=headers)
        expect_equal([output.record["reason"] for output in outputs], ["ok"], f"headers {number}")
    gate.drain()
    check_all(world, reader.to_end())

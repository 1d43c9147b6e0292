#!/usr/bin/env python3
"""The Python peer: the same job as a service in Python would do it, with confluent-kafka and orjson.

Reads candidates and writes a decision with its evidence for each device, in one transaction with the
offsets, and remembers what it let through on a state topic. Its rules are a fair part of the gate's
(duplicates, choice, consent, permission, token, window by minute of the day), its documents a
dictionary. Prints what it took as one JSON line.
"""
import argparse
import datetime
import json
import time
import zoneinfo

import orjson
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

REGULATED = set("AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO GB".split())
RULE = {"social": "drop", "marketing": "drop", "transactional": "defer", "security": "bypass"}


def read_documents(bootstrap, topic):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "peer.documents", "enable.partition.eof": True,
                         "isolation.level": "read_committed", "enable.auto.commit": False})
    partitions = list(consumer.list_topics(topic).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
    documents, ended = {}, set()
    while len(ended) < len(partitions):
        for message in consumer.consume(1000, 0.5):
            if message.error():
                ended.add(message.partition())
            elif message.value() is None:
                documents.pop(message.key(), None)
            else:
                documents[message.key()] = orjson.loads(message.value())
    consumer.close()
    return documents


class Zones:
    """A zone's offset, asked for once an hour."""

    def __init__(self):
        self.offsets = {}

    def minute(self, name, now):
        hour = int(now) // 3600
        cached = self.offsets.get(name)
        if cached is None or cached[0] != hour:
            zone = zoneinfo.ZoneInfo(name)
            offset = datetime.datetime.fromtimestamp(now, zone).utcoffset().total_seconds()
            cached = self.offsets[name] = (hour, offset)
        return int(now + cached[1]) // 60 % 1440


def decide(candidate, document, device, minute):
    category = candidate["category"]
    account = document.get("account") or {}
    choices = [(scope.get("categories") or {}).get(category) or {} for scope in (account, device)]
    states = [choice.get("state", "default") for choice in choices]
    blocked = []
    regulated = device.get("region") in REGULATED or not device.get("region")
    if category == "marketing" and regulated and "user-off" not in states:
        if not any(c.get("state") == "user-on" and c.get("at") and c.get("source") for c in choices):
            blocked.append("no_gdpr_consent")
    if states[0] == "user-off":
        blocked.append("account_opted_out")
    if states[1] == "user-off":
        blocked.append("device_opted_out")
    muted = (account.get("muted_subtypes") or {}).get(category) or []
    if candidate.get("subtype") in muted:
        blocked.append("subtype_muted")
    if device.get("os_permission") == "denied":
        blocked.append("os_permission_denied")
    if device.get("token_status") != "active":
        blocked.append("token_" + device.get("token_status", "expired"))
    window = device["quiet_hours"] if "quiet_hours" in device else account.get("quiet_hours")
    inside = False
    if window:
        start, end = (int(window[k][:2]) * 60 + int(window[k][3:]) for k in ("start", "end"))
        inside = start <= minute < end if start <= end else minute >= start or minute < end
    if inside and RULE.get(category) == "drop":
        blocked.append("quiet_hours_dropped")
    outcome = "dropped" if blocked else "deferred" if inside and RULE.get(category) == "defer" else "approved"
    reason = blocked[0] if blocked else {"deferred": "quiet_hours_deferred"}.get(outcome, "ok")
    return outcome, reason, {
        "outcome": outcome, "reason": reason, "blocked_by": blocked, "notification_id": candidate["notification_id"],
        "user_id": candidate["user_id"], "device_id": device["device_id"], "category": category,
        "subtype": candidate.get("subtype"), "decided_at": None, "policy_version": "2026-03-09",
        "preference_version": document.get("version"), "preference_offset": 0, "tzdb_version": "2026f", "gate_version": "peer",
        "evidence": {"user_category_opt_in": {"account": states[0], "device": states[1], "effective": not blocked},
                     "os_permission": device.get("os_permission"), "device_token_status": device.get("token_status"),
                     "quiet_hours": {"start": window and window["start"], "end": window and window["end"],
                                     "timezone": device.get("timezone"), "timezone_source": "device",
                                     "in_window": inside, "ends_at": None}, "suppression_reason": None}}


def main():
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "input", "preferences", "approved", "deferred", "dropped", "state"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--commit-interval-ms", type=int, default=100)
    arguments = parser.parse_args()
    documents = read_documents(arguments.bootstrap, arguments.preferences)
    topics = {"approved": arguments.approved, "deferred": arguments.deferred, "dropped": arguments.dropped}
    producer = Producer({"bootstrap.servers": arguments.bootstrap, "transactional.id": arguments.group, "linger.ms": 5,
                         "compression.codec": "lz4", "queue.buffering.max.messages": 1000000})
    producer.init_transactions(30)
    consumer = Consumer({"bootstrap.servers": arguments.bootstrap, "group.id": arguments.group,
                         "auto.offset.reset": "earliest", "isolation.level": "read_committed",
                         "enable.auto.commit": False, "queued.max.messages.kbytes": 262144,
                         "queued.min.messages": 1000000})
    consumer.subscribe([arguments.input])
    zones, records, outputs, began, last = Zones(), 0, 0, None, 0.0
    producer.begin_transaction()
    pending, seen = {}, set()
    while records < arguments.records:
        messages = consumer.consume(1000, 0.05)
        if messages and began is None:
            began, cpu, last = time.monotonic(), time.process_time(), time.monotonic()
        now = time.time()
        for message in messages:
            records += 1
            pending[message.partition()] = message.offset() + 1
            value = message.value()
            candidate = orjson.loads(value)
            document = documents.get(message.key())
            devices = (document or {}).get("devices") or []
            for device in devices or [None]:
                if device is None:
                    outcome, reason, record = "dropped", "unknown_user", {"outcome": "dropped", "reason": "unknown_user"}
                else:
                    minute = zones.minute(device.get("timezone") or "UTC", now)
                    outcome, reason, record = decide(candidate, document, device, minute)
                    id = f"{candidate['user_id']}\0{candidate['notification_id']}\0{device['device_id']}"
                    if id in seen:
                        outcome, reason = "dropped", "duplicate"
                        record.update(outcome=outcome, reason=reason)
                    elif outcome != "dropped":
                        seen.add(id)
                        state = orjson.dumps({"at": int(now * 1000), "outcome": outcome})
                        producer.produce(arguments.state, state, id, message.partition())
                body = orjson.dumps(record)[:-1] + b',"notification":' + value + b"}"
                producer.produce(topics[outcome], body, message.key(), message.partition(),
                                 headers=[("outcome", outcome), ("reason", reason),
                                          ("notification_id", candidate.get("notification_id", ""))])
                outputs += 1
        producer.poll(0)
        if pending and (time.monotonic() - last) * 1000 >= arguments.commit_interval_ms or records >= arguments.records:
            producer.flush()
            producer.send_offsets_to_transaction(
                [TopicPartition(arguments.input, p, o) for p, o in pending.items()], consumer.consumer_group_metadata())
            producer.commit_transaction()
            producer.begin_transaction()
            pending, last = {}, time.monotonic()
    took, cpu = time.monotonic() - began, time.process_time() - cpu
    print(json.dumps({"records": records, "outputs": outputs, "seconds": took, "cpu_seconds": cpu}))
    producer.abort_transaction()
    consumer.close()


if __name__ == "__main__":
    main()

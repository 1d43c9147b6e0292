#!/usr/bin/env python3
"""Prints a run of the demo: outcomes by category and reason, throughput, and three records in words.

    explain.py FOLDER       with approved.jsonl, deferred.jsonl, dropped.jsonl, receipts.jsonl and summary.json
    explain.py FOLDER ID    what became of that notification, in words
"""
import collections
import json
import os
import sys

WORDS = {
    "account_opted_out": "the user switched {category} off for the whole account",
    "device_opted_out": "the user switched {category} off on this device",
    "category_default_off": "the user never chose, and {category} is off by default here",
    "no_gdpr_consent": "{category} needs an opt-in where this device was last seen, and there is none on record",
    "os_permission_denied": "the phone's own settings do not let the app notify",
    "token_expired": "the push provider no longer knows the device's token",
    "token_revoked": "the device's token was revoked",
    "quiet_hours_dropped": "it is {start} to {end} quiet time in {timezone}, and {category} is not held over",
    "quiet_hours_deferred": "it is quiet time in {timezone}; it is held until {deliver_after} and decided again then",
    "expires_in_quiet_hours": "it would expire before the quiet time ends",
    "subtype_muted": "the user muted this kind of {category} message",
    "suppressed_bounced": "sending to this account or device bounced before",
    "suppressed_abuse_hold": "the account is on hold for abuse",
    "suppressed_legal_hold": "the account is on a legal hold",
    "quiet_hours_bypassed": "it is quiet time, but this may not wait",
    "ok": "nothing stands against it",
}


def records(folder):
    for outcome in ("approved", "deferred", "dropped"):
        with open(os.path.join(folder, outcome + ".jsonl"), "rb") as file:
            for line in file:
                # Nothing but its end is left of a hold whose quiet time ended while the demo ran.
                if line.strip():
                    yield json.loads(line)


def receipts_of(folder, record):
    with open(os.path.join(folder, "receipts.jsonl"), "rb") as file:
        for line in file:
            receipt = json.loads(line)
            if all(receipt[name] == record[name] for name in ("user_id", "notification_id", "device_id")):
                yield receipt


def explain(record):
    quiet = record["evidence"]["quiet_hours"]
    words = WORDS.get(record["reason"], "the reason is " + record["reason"])
    words = words.format(
        category=record["category"], start=quiet["start"], end=quiet["end"], timezone=quiet["timezone"],
        deliver_after=record.get("deliver_after"))
    device = record["device_id"] or "no device"
    print(f"  {record['notification_id']} to {record['user_id']} ({device}): {record['outcome']}, {record['reason']}")
    print(f"    Why: {words}.")
    others = [reason for reason in record["blocked_by"] if reason != record["reason"]]
    if others:
        print(f"    It would also have been stopped by: {', '.join(others)}.")
    if record["outcome"] == "approved":
        until = record["send_before"] or "any time"
        print(f"    Interruption {record['interruption']}, to be sent before {until}.")


def explain_one(folder, notification_id):
    found = [record for record in records(folder) if record["notification_id"] == notification_id]
    for record in found:
        explain(record)
    return 0 if found else f"{notification_id} is on none of the topics"


def main():
    folder = sys.argv[1]
    if len(sys.argv) > 2:
        sys.exit(explain_one(folder, sys.argv[2]))
    counts = collections.Counter()
    examples = {}
    for record in records(folder):
        counts[record["outcome"], str(record["category"]), record["reason"]] += 1
        # The most telling of each outcome: the one with most against it, else one with a deadline.
        rank = (len(record["blocked_by"]), bool(record.get("send_before")))
        if record["device_id"] and (record["outcome"] not in examples or rank > examples[record["outcome"]][0]):
            examples[record["outcome"]] = (rank, record)
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.loads(file.readlines()[-1])

    print()
    print(f"{'outcome':<10}{'category':<15}{'reason':<26}{'records':>9}")
    total = sum(counts.values())
    for (outcome, category, reason), count in sorted(counts.items(), key=lambda item: (item[0][0], item[0][1], -item[1])):
        print(f"{outcome:<10}{category:<15}{reason:<26}{count:>9,}")
    print(f"{'':<51}{total:>9,}  decisions from {summary['candidates']:,} candidates")
    seconds = max(summary["seconds"], 0.001)
    print(f"\n{summary['candidates'] / seconds:,.0f} candidates/s, exactly once, "
          f"{summary['process_seconds'] * 1e6 / summary['candidates']:.1f} us of processor time each "
          f"(client library included)\n")
    print("Three records in words:")
    for outcome in ("approved", "deferred", "dropped"):
        if outcome in examples:
            explain(examples[outcome][1])
        if outcome == "approved" and outcome in examples:
            for receipt in receipts_of(folder, examples[outcome][1]):
                print(f"    Its receipt: {json.dumps(receipt)}")


if __name__ == "__main__":
    main()

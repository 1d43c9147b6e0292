#!/usr/bin/env python3
"""What the gate must say of a candidate, worked out from the written contract alone.

As a module: `Oracle(policy, preference lines, default lines).decide(candidate bytes, source, now)` gives the expected
records, with matchers (expect.py) wherever the contract leaves room, or raises Unfixed where it is silent.
As a command it takes the flags of `sendgate evaluate` and prints one allowed record per line, so that the fuzzer's
own plumbing can be tried on it:

    oracle.py evaluate [--policy F] --preferences F [--defaults F] [--source S] (--now INSTANT | --clock record)
"""

import argparse
import base64
import hashlib
import json
import os
import sys

import instants
import inputs
import window
from expect import AbsentOr, Anything, At, OneOf, Text, at_or_null, sample
from inputs import CATEGORIES, SUPPRESSIONS, UNREADABLE, Candidate, Unreadable

HOUR_MS = 3_600_000
BASE64_BYTES_MAX = 32 * 1024
BUILT_IN_POLICY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/policy.json")

# Members of the EU, then the EEA's others and the United Kingdom, then EU territory with codes of its own.
REGULATED = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
    " IS LI NO GB"
    " AX GP MQ GF RE YT MF".split()
)


class Oracle:
    def __init__(self, policy, preference_lines, default_lines=()):
        self.policy = policy
        self.preferences = inputs.read_preferences(preference_lines)
        self.defaults = inputs.read_defaults(default_lines)
        self.regulated_additional = {entry["region"] for entry in policy["regions_regulated_additional"]}

    # Rows 1 to 5: the candidate itself.

    def decide(self, data, source, now):
        try:
            candidate = Candidate(data, self.policy["record_bytes_max"])
        except Unreadable:
            return [self.invalid(data, now, Text(), inputs.readable_ids(data))]
        if source == "security" and candidate.category != "security":
            ids = inputs.readable_ids(data)
            return [self.invalid(data, now, "category_not_for_topic", ids)]
        document = self.preferences.get(candidate.user_id)
        reason = self.candidate_reason(candidate, source, now)
        if reason is None:
            if document is None:
                reason = "unknown_user"
            elif document is UNREADABLE:
                reason = "preferences_unreadable"
            else:
                devices = document.devices
                if candidate.device_id is not None:
                    devices = [device for device in devices if device.device_id == candidate.device_id]
                if devices:
                    return [self.device_record(candidate, document, device, source, now) for device in devices]
                reason = "no_devices" if candidate.device_id is None else "unknown_device"
        return [self.early(candidate, document, reason, now)]

    def candidate_reason(self, candidate, source, now):
        policy = self.policy
        if candidate.category not in CATEGORIES:
            return "unknown_category"
        for category in CATEGORIES:
            names = policy["categories"][category]["registry"]
            if category != candidate.category and (candidate.event in names or candidate.subtype in names):
                return "category_mismatch"
        if candidate.payload_bytes > policy["payload_bytes_max"]:
            return "payload_too_large"
        if candidate.critical and not self.is_allow_listed(candidate, source):
            return "critical_not_allowed"
        if candidate.expires_at is not None and candidate.expires_at <= now:
            return "expired"
        return None

    def is_allow_listed(self, candidate, source):
        listed = candidate.event in self.policy["critical_allow_list"]
        return candidate.category == "security" and listed and source == "security"

    def invalid(self, data, now, detail, ids):
        # With JSON that cannot be trusted, what could be read depends on the reader.
        known = ("notification_id", "user_id", "device_id")
        named = {name: Anything() if ids is None or name not in ids else ids[name] for name in known}
        long = len(data) > BASE64_BYTES_MAX
        digest = OneOf(hashlib.sha256(data).hexdigest(), base64.b64encode(hashlib.sha256(data).digest()).decode())
        return {
            **self.common("dropped", "invalid_candidate", ["invalid_candidate"], now),
            **named,
            "category": Anything(),
            "subtype": Anything(),
            "preference_version": Anything(),
            "evidence": self.evidence_without_device(None, Anything()),
            "detail": detail,
            "notification_base64": base64.b64encode(data[:BASE64_BYTES_MAX]).decode(),
            "bytes": len(data) if long else AbsentOr(len(data)),
            "sha256": digest if long else AbsentOr(digest),
        }

    def early(self, candidate, document, reason, now):
        readable = document not in (None, UNREADABLE)
        if reason in ("no_devices", "unknown_device"):
            version = document.version
        else:
            version = OneOf(None, document.version) if readable else None if document is None else Anything()
        return {
            **self.common("dropped", reason, [reason], now),
            **self.named(candidate),
            "device_id": candidate.device_id,
            "preference_version": version,
            "evidence": self.evidence_without_device(reason, None),
        }

    def common(self, outcome, reason, blocked_by, now):
        return {
            "outcome": outcome,
            "reason": reason,
            "blocked_by": blocked_by,
            "decided_at": At(now) if now is not None else Anything(sample=instants.to_text(0)),
            "policy_version": self.policy["version"],
            "preference_offset": Anything(),
            "tzdb_version": window.database_version(),
            "gate_version": Text(),
        }

    @staticmethod
    def named(candidate):
        return {
            "notification_id": candidate.notification_id,
            "user_id": candidate.user_id,
            "category": candidate.category,
            "subtype": candidate.subtype,
            "notification": candidate.raw,
        }

    @staticmethod
    def evidence_without_device(reason, device_value):
        """Null for what does not exist; of an account that does, nothing is fixed where no device was judged."""
        if reason == "unknown_user":
            hours = dict.fromkeys(("start", "end", "timezone", "timezone_source", "in_window", "ends_at"))
            return {
                "user_category_opt_in": OneOf(None, dict.fromkeys(("account", "device", "effective"))),
                "os_permission": None,
                "device_token_status": None,
                "quiet_hours": OneOf(None, hours),
                "suppression_reason": None,
            }
        missing = device_value if reason in ("no_devices", "unknown_device") else Anything()
        return {
            "user_category_opt_in": Anything(),
            "os_permission": missing,
            "device_token_status": missing,
            "quiet_hours": Anything(),
            "suppression_reason": Anything(),
        }

    # Rows 6 to 16: one device.

    def device_record(self, candidate, document, device, source, now):
        policy, rules = self.policy, self.policy["categories"][candidate.category]
        account = document.account
        passes = next(
            (
                entry["passes"]
                for entry in policy["bypass_events"]
                if entry["event"] == candidate.event and entry["category"] == candidate.category
            ),
            (),
        )
        blocked = []

        # Row 7.
        carried = set(account.suppressions) | set(device.suppressions)
        strictest = next((name for name in SUPPRESSIONS if name in carried), None)
        blocked += [
            f"suppressed_{name}"
            for name in SUPPRESSIONS
            if name in carried and candidate.category in policy["suppressions"][name]
        ]

        # Rows 8 and 9.
        stored = (account.choices[candidate.category], device.choices[candidate.category])
        states = [self.state_in_force(candidate.category, choice) for choice in stored]
        regulated = self.is_regulated(device.region)
        consented = any(choice.is_consent(now) for choice in stored)
        if rules["lawful_basis"]["basis"] == "consent" and regulated and not consented and "user-off" not in states:
            blocked.append("no_gdpr_consent")
        default = self.defaults.get(candidate.category) or (
            rules["default"] == "on",
            rules["regulated_default"] == "on",
        )
        effective = "user-off" not in states and ("user-on" in states or default[regulated])
        if "choice" not in passes:
            blocked += [
                reason
                for reason, state in zip(("account_opted_out", "device_opted_out"), states)
                if state == "user-off"
            ]
            muted = candidate.subtype is not None and candidate.subtype in document.mutes.get(candidate.category, ())
            if muted and candidate.category != "security":
                blocked.append("subtype_muted")
            if not effective and "user-off" not in states:
                blocked.append("category_default_off")

        # Rows 10 and 11.
        if device.permission == "denied":
            blocked.append("os_permission_denied")
        if device.token != "active":
            blocked.append(f"token_{device.token}")

        # Rows 12, 13, 15 and 16.
        hours = self.hours(document, device, now)
        bound = now + policy["hold_hours_max"] * HOUR_MS
        deliver_after = bound if hours.ends_at is None else min(hours.ends_at, bound)
        rule = "bypass" if "quiet_hours" in passes else rules["quiet_hours_rule"]
        if rule != "bypass" and hours.invalid and rules["on_invalid_window"] == "drop":
            blocked.append("quiet_hours_dropped")
        held = False
        if hours.inside and rule == "drop":
            blocked.append("quiet_hours_dropped")
        if hours.inside and rule == "defer":
            if candidate.expires_at is not None and candidate.expires_at <= deliver_after:
                blocked.append("expires_in_quiet_hours")
            held = True

        evidence = {
            "user_category_opt_in": {
                "account": self.shown_state(stored[0], states[0]),
                "device": self.shown_state(stored[1], states[1]),
                "effective": effective,
            },
            "os_permission": device.permission,
            "device_token_status": device.token,
            "quiet_hours": hours.evidence(),
            "suppression_reason": strictest,
        }
        if blocked:
            outcome, reason = "dropped", blocked[0]
        elif held:
            outcome, reason = "deferred", "quiet_hours_deferred"
        elif hours.inside:
            outcome, reason = "approved", "quiet_hours_bypassed"
        else:
            # Whether a window that cannot be read counts as one that was passed is not fixed.
            passed = hours.invalid and rule == "bypass" and rules["on_invalid_window"] == "drop"
            outcome, reason = "approved", OneOf("ok", "quiet_hours_bypassed") if passed else "ok"
        record = {
            **self.common(outcome, reason, blocked, now),
            **self.named(candidate),
            "device_id": device.device_id,
            "preference_version": document.version,
            "evidence": evidence,
        }
        if outcome == "deferred":
            record["deliver_after"] = At(deliver_after)
        if outcome == "approved":
            record.update(self.approval(candidate, document, device, source, now, rule, hours))
        return record

    @staticmethod
    def state_in_force(category, choice):
        if category == "security" and choice.state == "user-off" and choice.source != "admin_override":
            return "default"
        return choice.state

    @staticmethod
    def shown_state(choice, in_force):
        return in_force if in_force == choice.state else OneOf(in_force, choice.state)

    def is_regulated(self, region):
        code = {"EL": "GR", "UK": "GB"}.get(region, region)
        return code not in window.region_codes() or code in REGULATED or code in self.regulated_additional

    def hours(self, document, device, now):
        quiet = device.window if device.has_own_window else document.window
        if device.zone is not None:
            zone, zone_source = device.zone, "device"
        elif document.account.zone is not None:
            zone, zone_source = document.account.zone, "account"
        else:
            zone, zone_source = self.policy["fallback_timezone"], "fallback"
        return Hours(quiet, zone, zone_source, now)

    def approval(self, candidate, document, device, source, now, rule, hours):
        critical = self.is_allow_listed(candidate, source) and device.permission != "provisional"
        if device.permission == "provisional":
            interruption = "passive"
        elif candidate.category == "security":
            interruption = "critical" if critical else "time-sensitive"
        else:
            interruption = "active"
        limits = [candidate.expires_at, None if rule == "bypass" else hours.next_start()]
        sms = candidate.sms_fallback and document.sms.is_consent(now)
        return {
            "platform": device.platform,
            "interruption": interruption,
            "critical": critical,
            "expires_at": at_or_null(candidate.expires_at),
            "send_before": at_or_null(min((ms for ms in limits if ms is not None), default=None)),
            "collapse_key": candidate.collapse_key,
            "unsubscribe_url": None,
            "sms_fallback": "allowed" if sms else "forbidden",
        }


class Hours:
    """A device's window at an instant."""

    def __init__(self, quiet, zone, zone_source, now):
        self.invalid = quiet is window.UNREADABLE
        self.quiet = None if self.invalid else quiet
        self.zone, self.zone_source, self.now = zone, zone_source, now
        self.inside = self.quiet is not None and self.quiet.holds(zone, now // window.MINUTE_MS)
        self.ends_at = self.quiet.ends_at(zone, now) if self.inside else None

    def next_start(self):
        return None if self.quiet is None or self.inside else self.quiet.next_start(self.zone, self.now)

    def evidence(self):
        shown = {
            "timezone": self.zone,
            "timezone_source": self.zone_source,
            "ends_at": at_or_null(self.ends_at),
        }
        if self.invalid:
            return {**shown, "start": Anything(), "end": Anything(), "in_window": Anything(), "invalid": True}
        start, end = (None, None) if self.quiet is None else (self.quiet.start_text, self.quiet.end_text)
        return {
            **shown,
            "start": start,
            "end": end,
            "in_window": self.inside,
            "invalid": OneOfAbsentOrFalse(),
        }


class OneOfAbsentOrFalse(AbsentOr):
    """`invalid` is said only where it is so."""

    def __init__(self):
        super().__init__(False)


def record_clock(data):
    """The candidate's own `created_at`; None where it cannot be read."""
    try:
        return Candidate(data, len(data)).created_at
    except (Unreadable, instants.Unfixed):
        return None


def encode(record):
    """One output line: the candidate's bytes go in unchanged."""
    record = sample(record)
    raw = record.pop("notification", None)
    line = json.dumps(record, ensure_ascii=False).encode()
    return line if raw is None else line[:-1] + b', "notification": ' + raw + b"}"


def read_lines(path):
    with open(path, "rb") as file:
        return file.read().split(b"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["evaluate"])
    parser.add_argument("--policy", default=BUILT_IN_POLICY)
    parser.add_argument("--preferences", required=True)
    parser.add_argument("--defaults")
    parser.add_argument("--source", choices=["candidate", "security"], default="candidate")
    clock = parser.add_mutually_exclusive_group(required=True)
    clock.add_argument("--now")
    clock.add_argument("--clock", choices=["record"])
    options = parser.parse_args()
    with open(options.policy, "rb") as file:
        policy = json.load(file)
    oracle = Oracle(policy, read_lines(options.preferences), read_lines(options.defaults) if options.defaults else ())
    now = instants.from_text(options.now) if options.now else None
    for line in filter(None, sys.stdin.buffer.read().split(b"\n")):
        instant = record_clock(line) if now is None else now
        for record in oracle.decide(line, options.source, instant):
            sys.stdout.buffer.write(encode(record) + b"\n")


if __name__ == "__main__":
    main()

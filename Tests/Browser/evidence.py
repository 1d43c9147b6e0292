"""What the gate, dispatchers and apps would have written, made by hand: records of decisions and receipts."""

import datetime
import json
import time

from confluent_kafka import Producer

HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "'><svg onload=window.hacked=1>",
    "</title><script>window.hacked=1</script>",
    "</style><script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    '" autofocus onfocus=window.hacked=1 x="',
    "\u202egnihton",
    "<!--",
]
HOUR_MS = 3_600_000


def instant(ms):
    moment = datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def decision(outcome, reason, user, notification, device, at_ms, category="marketing", **more):
    """One record of an output topic; `more` takes the place of what it names."""
    record = {
        "outcome": outcome,
        "reason": reason,
        "blocked_by": [reason] if outcome == "dropped" else [],
        "notification_id": notification,
        "user_id": user,
        "device_id": device,
        "category": category,
        "subtype": None,
        "decided_at": instant(at_ms),
        "policy_version": "2026-03-09",
        "preference_version": 4,
        "preference_offset": 1207,
        "tzdb_version": "2026f",
        "gate_version": "0.1.0",
        "evidence": {
            "user_category_opt_in": {"account": "default", "device": "default", "effective": outcome != "dropped"},
            "os_permission": "granted",
            "device_token_status": "active",
            "quiet_hours": {
                "start": "22:00",
                "end": "07:00",
                "timezone": "Europe/Berlin",
                "timezone_source": "device",
                "in_window": False,
                "ends_at": None,
            },
            "suppression_reason": None,
        },
    }
    if outcome == "approved":
        record |= {
            "platform": "ios",
            "interruption": "active",
            "critical": False,
            "expires_at": None,
            "send_before": instant(at_ms + 6 * HOUR_MS),
            "collapse_key": None,
            "unsubscribe_url": "https://example.com/u/not-for-support",
            "sms_fallback": "forbidden",
        }
    record |= more
    record["notification"] = {
        "notification_id": notification,
        "user_id": user,
        "category": category,
        "event": more.get("event", "promotion"),
        "payload": {"title": "not for support"},
    }
    record.pop("event", None)
    return record


def receipt(kind, user, notification, device, at_ms, **more):
    record = {"notification_id": notification, "device_id": device, "user_id": user, "at": instant(at_ms)}
    if kind == "user_observed":
        return record | {"event": kind, "via": "tap"} | more
    return record | {"provider": "apns", "status": kind, "code": None} | more


def quiet(record, ends_ms):
    """The same inside the window."""
    record["evidence"]["quiet_hours"] |= {"in_window": True, "ends_at": instant(ends_ms)}
    return record


class Topics:
    """Writes where the gate would."""

    def __init__(self, bootstrap):
        self.producer = Producer({"bootstrap.servers": bootstrap, "partitioner": "murmur2_random"})

    def write(self, record):
        if "outcome" not in record:
            topic, key = "receipts", record["user_id"]
        else:
            topic, key = record["outcome"], record["user_id"]
        if topic == "deferred":
            key = "\0".join([record["user_id"], record["notification_id"], record["device_id"]])
        self.producer.produce(f"notifications.{topic}", json.dumps(record).encode(), key.encode())

    def end_hold(self, user, notification, device):
        self.producer.produce("notifications.deferred", None, "\0".join([user, notification, device]).encode())

    def flush(self):
        left = self.producer.flush(20)
        if left:
            raise RuntimeError(f"{left} records could not be written")


def story(user, device, other, now_ms):
    """A day of one user with two devices: everything that a timeline can show."""
    ago = lambda hours: now_ms - int(hours * HOUR_MS)  # noqa: E731
    held_ms, release_ms = ago(15), ago(7)
    hold = decision(
        "deferred", "quiet_hours_deferred", user, "n-held", device, held_ms, "transactional",
        event="order_shipped", deliver_after=instant(release_ms),
    )
    released = decision(
        "approved", "released", user, "n-held", device, release_ms, "transactional", event="order_shipped",
        held={"decided_at": instant(held_ms), "deliver_after": instant(release_ms)},
    )
    still = decision(
        "deferred", "quiet_hours_deferred", user, "n-waiting", device, ago(0.2), "transactional",
        event="payment_succeeded", deliver_after=instant(now_ms + 3 * HOUR_MS),
    )
    no_consent = decision("dropped", "no_gdpr_consent", user, "n-offer", device, ago(5))
    no_consent["blocked_by"] = ["no_gdpr_consent", "category_default_off", "quiet_hours_dropped"]
    denied = decision("dropped", "os_permission_denied", user, "n-offer", other, ago(5))
    denied["evidence"]["os_permission"] = "denied"
    expired = decision("dropped", "token_expired", user, "n-like", other, ago(3), "social", event="like")
    expired["evidence"]["device_token_status"] = "expired"
    capped = decision(
        "dropped", "frequency_capped", user, "n-mention", device, ago(2), "social", event="mention",
        cap={"name": "burst", "frees_at": instant(now_ms + HOUR_MS)},
    )
    return [
        quiet(hold, release_ms),
        released,
        quiet(still, now_ms + 3 * HOUR_MS),
        no_consent,
        quiet(denied, ago(1)),
        expired,
        capped,
        decision("approved", "ok", user, "n-seen", device, ago(1.5), "social", event="comment"),
        decision("approved", "ok", user, "n-taken", device, ago(1.2), "social", event="follow"),
        decision("approved", "ok", user, "n-refused", other, ago(1.1), "security", event="login_alert"),
        decision("approved", "ok", user, "n-silent", device, ago(0.1), "security", event="login_alert"),
        receipt("accepted", user, "n-held", device, release_ms + 800),
        receipt("accepted", user, "n-seen", device, ago(1.5) + 400),
        receipt("user_observed", user, "n-seen", device, ago(1.4)),
        receipt("accepted", user, "n-taken", device, ago(1.2) + 300),
        receipt("rejected", user, "n-refused", other, ago(1.1) + 300, code="Unregistered"),
    ]


def hostile(user, text, number, now_ms):
    """Records that carry a text wherever a record can carry one."""
    at_ms = now_ms - number * 60_000
    values = {
        "user_category_opt_in": {"account": text, "device": text, "effective": False},
        "os_permission": text,
        "device_token_status": text,
        "quiet_hours": {
            "start": text,
            "end": text,
            "timezone": text,
            "timezone_source": text,
            "in_window": True,
            "ends_at": instant(now_ms),
        },
        "suppression_reason": text,
    }
    common = {"subtype": text, "event": text, "evidence": values, "policy_version": text, "gate_version": text}
    return [
        decision("dropped", text, user, text, text, at_ms, text, **common, blocked_by=[text, "ok"], detail=text,
                 superseded_by=text, cap={"name": text, "frees_at": text}),
        decision("approved", "ok", user, text, text, at_ms - 1000, text, **common, platform=text, interruption=text),
        receipt("rejected", user, text, text, at_ms, provider=text, code=text),
        receipt("user_observed", user, text, text, at_ms, via=text),
    ]


def await_indexed(service, seconds=60):
    """Until everything that was written is in the index."""
    since = instant(int(time.time() * 1000))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state = service.api("GET", "/v1/evidence/state")
        if state["fresh_at"] and state["fresh_at"] >= since and state["records_behind"] == 0:
            return
        time.sleep(0.2)
    raise RuntimeError(f"the index is not up to date: {state}")

"""What a user's events add up to, said once more in Python: the document, and a gate's table made of it."""

from datetime import datetime, timezone

EVENTS_A_USER = 80
DEVICES = ("a", "b", "c")
CATEGORIES = ("transactional", "security", "social", "marketing")
MUTABLE = ("transactional", "social", "marketing")
STATES = ("default", "user-on", "user-off")
SUBTYPES = ("like", "comment", "mention", "follow")
ZONES = ("Europe/Berlin", "Asia/Tokyo", "America/New_York", "UTC")
REGIONS = ("DE", "JP", "US")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SOURCE = "in_app_settings"


def instant(ms):
    at = datetime.fromtimestamp(ms / 1000, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


class Person:
    """A user, the events that are to be written, and what they lead to: each is dated behind the one before."""

    def __init__(self, user, random):
        self.user, self.random = user, random
        self.answers, self.stored = [], None
        self.fields, self.syncs, self.removed, self.tokens = {}, {}, {}, {}
        # An hour ago: none is ahead of any clock.
        self.now = int(datetime.now(timezone.utc).timestamp() * 1000) - 3_600_000
        self.events = [self._next(number) for number in range(EVENTS_A_USER)]

    # Events.

    def _next(self, number):
        self.now += self.random.randrange(1, 30_000)
        made = self._sync(DEVICES[number]) if number < len(DEVICES) else self._any()
        return {"event_id": f"{self.user}-{number}", "user_id": self.user, "at": self.now, **made}

    def _any(self):
        makers = [self._choice] * 6 + [self._device_choice] * 3 + [self._mute] * 2 + [self._hours] * 2
        makers += [self._zone, self._sms, self._remove, self._any_sync, self._any_sync]
        return self.random.choice(makers)()

    def _choice(self, device=None):
        category = self.random.choice(MUTABLE)
        state = self.random.choice(STATES)
        self.fields["choice", device, category] = (state, self.now)
        scope = {"scope": "device", "device_id": device} if device else {"scope": "account"}
        return {"type": "choice_set", "category": category, "state": state, "source": SOURCE, **scope}

    def _device_choice(self):
        return self._choice(self._device())

    def _device(self):
        return f"{self.user}-{self.random.choice(DEVICES)}"

    def _mute(self):
        subtype, muted = self.random.choice(SUBTYPES), self.random.random() < 0.6
        self.fields["mute", None, subtype] = (muted, self.now)
        return {"type": "subtype_mute_set", "category": "social", "subtype": subtype, "muted": muted, "source": SOURCE}

    def _hours(self):
        device = self._device() if self.random.random() < 0.5 else None
        choices = [None, {"start": "22:00", "end": "07:30"}, {"start": "01:00", "end": "24:00", "days": ["mon", "sun"]}]
        hours = self.random.choice(choices + (["inherit"] if device else []))
        self.fields["hours", device, None] = (hours, self.now)
        scope = {"scope": "device", "device_id": device} if device else {"scope": "account"}
        return {"type": "quiet_hours_set", "quiet_hours": hours, "source": SOURCE, **scope}

    def _zone(self):
        zone = self.random.choice((None, *ZONES))
        self.fields["zone", None, None] = (zone, self.now)
        return {"type": "timezone_set", "timezone": zone, "source": SOURCE}

    def _sms(self):
        state = self.random.choice(STATES)
        self.fields["sms", None, None] = (state, self.now)
        return {"type": "sms_consent_set", "state": state, "source": SOURCE}

    def _any_sync(self):
        return self._sync(self.random.choice(DEVICES))

    def _sync(self, letter):
        device = f"{self.user}-{letter}"
        sync = {
            "platform": self.random.choice(("ios", "android")),
            "os_permission": self.random.choice(("granted", "denied", "provisional")),
            "timezone": self.random.choice(ZONES),
            "region": self.random.choice(REGIONS),
        }
        self.syncs[device] = (sync, self.now)
        token = self.random.choice((None, "active", "expired"))
        if token:
            self.tokens[device] = token
        return {"type": "device_seen", "device_id": device, **sync, **({"token_status": token} if token else {})}

    def _remove(self):
        device = self._device()
        self.removed[device] = self.now
        return {"type": "device_removed", "device_id": device}

    # What they lead to.

    def held(self, field):
        return self.fields[field][0]

    def told_by(self, rows):
        """field -> what the newest row of it says, of choices, mutes and SMS."""
        told = {}
        for row in rows:
            if row["outcome"] not in ("applied", "confirmed"):
                continue
            if row["kind"] == "choice":
                told["choice", row["device_id"], row["category"]] = row["after"]
            elif row["kind"] == "subtype_mute":
                told["mute", None, row["subject"]] = row["after"] == "muted"
            elif row["kind"] == "sms_consent":
                told["sms", None, None] = row["after"]
        return told

    def document(self, version):
        """As it must stand in the store and on the topic."""
        account = self._scope(None)
        mutes = sorted(name for (kind, _, name), (muted, _) in self.fields.items() if kind == "mute" and muted)
        if mutes:
            account["muted_subtypes"] = {"social": mutes}
        hours = self.fields.get(("hours", None, None), (None,))[0]
        if hours:
            account["quiet_hours"] = hours
        zone = self.fields.get(("zone", None, None), (None,))[0]
        if zone:
            account["timezone"] = zone
        if ("sms", None, None) in self.fields:
            account["sms"] = self._made("sms", None, None)
        devices = [self._device_entry(device) for device in sorted(self.syncs) if self._is_present(device)]
        return {"user_id": self.user, "version": version, "account": account, "devices": devices}

    def _is_present(self, device):
        return self.syncs[device][1] > self.removed.get(device, 0)

    def _device_entry(self, device):
        entry = {"device_id": device, **self.syncs[device][0], "token_status": self.tokens.get(device, "active")}
        entry |= self._scope(device)
        hours = self.fields.get(("hours", device, None), ("inherit",))[0]
        if hours != "inherit":
            entry["quiet_hours"] = hours
        return entry

    def _scope(self, device):
        made = {c: self._made("choice", device, c) for c in CATEGORIES if ("choice", device, c) in self.fields}
        return {"categories": made} if made else {}

    def _made(self, *field):
        state, at = self.fields[field]
        return {"state": state, "at": instant(at), "source": SOURCE}

    def table(self):
        """As a gate's table must hold it, but for the offset."""
        document = self.stored
        account = self._entry(document["account"], None)
        if self.fields.get(("sms", None, None), (None,))[0] == "user-on":
            account["sms_consent_at_ms"] = self.fields["sms", None, None][1]
        devices = []
        for device in document["devices"]:
            kept = {name: device[name] for name in ("device_id", "platform", "os_permission", "token_status", "region")}
            devices.append(kept | self._entry(device, device["device_id"]))
        # A zone that all devices name too says nothing more, and is not kept.
        if all(device["timezone"] == account.get("timezone") for device in devices):
            account.pop("timezone", None)
        made = {"user_id": self.user, "known": True, "readable": True, "version": document["version"]}
        return {**made, "account": account, "devices": devices}

    def _entry(self, said, device):
        choices = said.get("categories", {})
        entry = {
            "choices": {c: made["state"] for c, made in choices.items() if made["state"] != "default"},
            "consent_at_ms": {
                c: self.fields["choice", device, c][1] for c, made in choices.items() if made["state"] == "user-on"
            },
            "muted_subtypes": said.get("muted_subtypes", {}),
            "suppressions": [],
        }
        if "timezone" in said:
            entry["timezone"] = said["timezone"]
        if "quiet_hours" in said:
            entry["quiet_hours"] = _window(said["quiet_hours"])
        return entry


def _window(hours):
    if hours is None:
        return None
    days = hours.get("days", WEEKDAYS)
    return {
        "start_minute": _minute(hours["start"]),
        "end_minute": _minute(hours["end"]),
        "days": sum(1 << WEEKDAYS.index(day) for day in days),
    }


def _minute(text):
    return int(text[:2]) * 60 + int(text[3:])

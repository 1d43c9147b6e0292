"""A round of holds: users in windows of one to three minutes, what they change meanwhile, and their candidates.

Everything follows from the seed and the round's start, so that the judge can say of candidate i whose it is, what it
asks for, and what its user's document was at any time.
"""

import random

from harness.records import candidate, choice, device, document

# In seconds from the round's start.
ISSUED_WITHIN = 14
CHANGED_AT = 17
FIRST_END = 25
KINDS = {"plain": 60, "two": 22, "opt_out": 5, "fly": 5, "open": 3, "token": 2, "erase": 3}
CATEGORIES = {"transactional": 80, "social": 7, "marketing": 7, "security": 6}


class Device:
    __slots__ = ("device_id", "platform", "denied", "expired", "zone", "window")

    def __init__(self, device_id, platform, zone, window, denied=False, expired=False):
        self.device_id, self.platform, self.zone, self.window = device_id, platform, zone, window
        self.denied, self.expired = denied, expired


class Version:
    """One document of a user. `since_ms` and `until_ms` bound when the gate came to have it: it was written after the
    one and acknowledged before the other. None of `devices`: erased."""

    __slots__ = ("number", "off", "devices", "since_ms", "until_ms")

    def __init__(self, number, devices, off=False):
        self.number, self.devices, self.off = number, devices, off
        self.since_ms = self.until_ms = 0


class Round:
    def __init__(self, seed, number, start, count, table, users=None):
        """`start`: seconds since the epoch; `table`: a QuietTable that covers the round."""
        self.number, self.start, self.count, self.table = number, start, count, table
        self.chance = random.Random(f"{seed}/round {number}")
        self.users = [self._user(index) for index in range(users or max(40, count // 50))]
        self._candidates()

    # Users.

    def _window(self, zone):
        end, at = self.table.end_minute(zone, self.start + FIRST_END)
        return ((end - self.chance.choice((1, 2, 3))) % 1440, end), at

    def _user(self, index):
        chance = self.chance
        kind = chance.choices(list(KINDS), KINDS.values())[0]
        names = list(self.table.zones)
        zone = names[index % len(names)]
        window, _ = self._window(zone)
        platforms = ["ios", "android"] if chance.random() < 0.6 else ["android", "ios"]
        devices = [Device("d-0", platforms[0], zone, window)]
        if kind == "two":
            extra = chance.randrange(4)
            other = names[chance.randrange(len(names))]
            devices.append(
                [
                    Device("d-1", platforms[1], zone, window),
                    Device("d-1", platforms[1], zone, None),
                    Device("d-1", platforms[1], zone, window, denied=True),
                    Device("d-1", platforms[1], other, self._window(other)[0]),
                ][extra]
            )
        versions = [Version(1, devices)]
        first = devices[0]
        if kind == "opt_out":
            versions.append(Version(2, devices, off=True))
        elif kind == "fly":
            # Where the same hours are another time: mostly out of the window, at once.
            away = names[chance.randrange(len(names))]
            window = first.window if chance.random() < 0.5 else self._window(away)[0]
            versions.append(Version(2, [Device("d-0", first.platform, away, window)]))
        elif kind == "open":
            versions.append(Version(2, [Device("d-0", first.platform, zone, None)]))
        elif kind == "token":
            versions.append(Version(2, [Device("d-0", first.platform, zone, window, expired=True)]))
        elif kind == "erase":
            versions.append(Version(2, None))
        return versions

    def user_id(self, index):
        return f"r{self.number}u{index}"

    def document(self, index, version):
        """What to write; None: a tombstone."""
        if version.devices is None:
            return None
        devices = [
            device(
                each.device_id,
                platform=each.platform,
                timezone=each.zone,
                quiet_hours=each.window and {"start": clock(each.window[0]), "end": clock(each.window[1])},
                os_permission="denied" if each.denied else "granted",
                token_status="expired" if each.expired else "active",
            )
            for each in version.devices
        ]
        account = {"categories": {"transactional": choice("user-off")}} if version.off else {}
        return document(self.user_id(index), version.number, devices, **account)

    # Candidates.

    def _candidates(self):
        chance, count = self.chance, self.count
        names = list(CATEGORIES)
        self.user_of = [chance.randrange(len(self.users)) for _ in range(count)]
        self.category_of = chance.choices(names, CATEGORIES.values(), k=count)
        self.expires_ms = [None] * count
        self.collapse_of = [None] * count
        for index in range(count):
            if self.category_of[index] != "transactional":
                continue
            if chance.random() < 0.1:
                self.expires_ms[index] = (self.start + chance.randrange(20, 110)) * 1000 + chance.randrange(1000)
            elif chance.random() < 0.08:
                self.collapse_of[index] = f"k{chance.randrange(2)}"

    def notification_id(self, index):
        return f"r{self.number}n{index}"

    def candidate(self, index):
        made = candidate(
            self.notification_id(index),
            self.user_id(self.user_of[index]),
            self.category_of[index],
            payload={"n": index, "title": "Your order is on its way"},
        )
        if self.expires_ms[index] is not None:
            made["expires_at"] = self.expires_ms[index]
        if self.collapse_of[index] is not None:
            made["collapse_key"] = self.collapse_of[index]
        return made

    def is_security(self, index):
        return self.category_of[index] == "security"


def clock(minute):
    return f"{minute // 60:02d}:{minute % 60:02d}"


def number_of(notification_id):
    """(round, index) of what `notification_id` made."""
    number, _, index = notification_id[1:].partition("n")
    return int(number), int(index)

"""A gate that does everything right, in memory and in no time: what the judge of holds must be content with, and what
it must not be content with once something of it is changed."""

import heapq
import itertools

from harness.hold_judge import Record
from harness.hold_plan import CHANGED_AT, ISSUED_WITHIN


class Model:
    """Gives a round's records to its judge, each passed through `twist(index, device_id, record)`, which may change it,
    double it or leave it out: a list of records; None among them is a null value."""

    def __init__(self, judge, twist=None):
        self.judge, self.round = judge, judge.round
        self.twist = twist or (lambda index, device_id, record: [record])
        self.offsets = itertools.count()
        self.held, self.collapsed, self.events = {}, {}, []

    def run(self):
        made = self.round
        changed_ms = (made.start + CHANGED_AT) * 1000
        for versions in made.users:
            for version in versions:
                version.since_ms = 0 if version is versions[0] else changed_ms
                version.until_ms = version.since_ms + 10
        for index in range(made.count):
            at_ms = (made.start + 3) * 1000 + 1000 * (ISSUED_WITHIN - 3) * index // made.count
            self._at(at_ms, self._arrive, index)
        for user, versions in enumerate(made.users):
            for version in versions[1:]:
                self._at(version.until_ms, self._change, user, version)
        while self.events:
            at_ms, _, action, arguments = heapq.heappop(self.events)
            action(at_ms, *arguments)
        return self.judge

    def _at(self, at_ms, action, *arguments):
        heapq.heappush(self.events, (at_ms, next(self.offsets), action, arguments))

    def _version(self, user, at_ms):
        return [version for version in self.round.users[user] if version.until_ms <= at_ms][-1]

    def _spread(self, user):
        return user * 7919 % max(1, self.judge.spread_ms)

    def _write(self, index, device_id, record):
        for each in self.twist(index, device_id, record):
            self.judge.take(index, device_id, each)

    def _record(self, decision, at_ms, version, held=None, superseded_by=None):
        outcome, reason, blocked_by, deliver_ms = decision
        number = None if version is None else version.number
        offset = next(self.offsets)
        return Record(outcome, reason, blocked_by, at_ms, at_ms, number, deliver_ms, held, superseded_by, offset)

    def _arrive(self, at_ms, index):
        user = self.round.user_of[index]
        version, expires = self._version(user, at_ms), self.round.expires_ms[index]
        reason = "expired" if expires is not None and expires <= at_ms else None
        if reason is None and version.devices is None:
            reason = "unknown_user"
        if reason is not None:
            return self._write(index, None, self._record(("dropped", reason, [reason], None), at_ms, None))
        for device in version.devices:
            decision = self.judge.decide(index, version, device, at_ms, False)
            key = (user, self.round.collapse_of[index], device.device_id)
            if decision[0] != "dropped" and key[1] and self.collapsed.get(key) in self.held:
                older, place = self.collapsed[key]
                self._end(at_ms, older, place, ("dropped", "superseded", ["superseded"], None), version, index)
            record = self._record(decision, at_ms, version)
            self._write(index, device.device_id, record)
            if record.outcome == "deferred":
                self.collapsed[key] = (index, device.device_id)
                self._hold(index, device.device_id, record, record)

    def _hold(self, index, device_id, first, record):
        self.held[(index, device_id)] = (first, record)
        due = record.deliver_ms + self._spread(self.round.user_of[index])
        self._at(due, self._release, index, device_id, record)

    def _end(self, at_ms, index, device_id, decision, version, superseded_by=None):
        first, _ = self.held.pop((index, device_id))
        held = (first.decided_ms, first.deliver_ms)
        self._write(index, device_id, self._record(decision, at_ms, version, held, superseded_by))
        self._write(index, device_id, None)

    def _release(self, at_ms, index, device_id, record):
        if (index, device_id) not in self.held or self.held[(index, device_id)][1] is not record:
            return
        first = self.held[(index, device_id)][0]
        expires = self.round.expires_ms[index]
        if expires is not None and expires <= at_ms:
            return self._end(at_ms, index, device_id, ("dropped", "expired", ["expired"], None), None)
        version = self._version(self.round.user_of[index], at_ms)
        device = next(each for each in version.devices if each.device_id == device_id)
        decision = self.judge.decide(index, version, device, at_ms, True)
        if decision[0] != "deferred":
            return self._end(at_ms, index, device_id, decision, version)
        again = self._record(decision, at_ms, version, (first.decided_ms, first.deliver_ms))
        self._write(index, device_id, again)
        self._hold(index, device_id, first, again)

    def _change(self, at_ms, user, version):
        for index, device_id in [key for key in self.held if self.round.user_of[key[0]] == user]:
            if version.devices is None:
                del self.held[(index, device_id)]
                self._write(index, device_id, None)
                continue
            first, record = self.held[(index, device_id)]
            device = next(each for each in version.devices if each.device_id == device_id)
            free = max(at_ms, self.judge.quiet_until(device, at_ms))
            if version.off or device.expired or free == record.deliver_ms:
                continue
            moved = record._replace(deliver_ms=free)
            self.held[(index, device_id)] = (first, moved)
            expires = self.round.expires_ms[index]
            if free > at_ms and expires is not None and expires <= free:
                # It could only expire there: decided again now.
                free = at_ms
            due = free + (0 if free == at_ms else self._spread(user))
            self._at(due, self._release, index, device_id, moved)

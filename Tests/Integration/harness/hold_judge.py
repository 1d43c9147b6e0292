"""What must come of every candidate of a round, and whether it did: once, for the right reason, not early, not late.

Shares nothing with the gate: windows come from the made zones' own table, second by second.
"""

import collections

from harness.checking import CheckFailed, expect, expect_equal

# From a document's acknowledgement to every decision that heeds it.
FOLLOW_MS = 3000
LATE_MS = 1000


class Entry:
    """What became of one (notification, device); device None where nobody was decided for."""

    __slots__ = ("finals", "defers", "nulls")

    def __init__(self):
        self.finals, self.defers, self.nulls = [], [], 0


Record = collections.namedtuple(
    "Record", "outcome reason blocked_by decided_ms stamp_ms version deliver_ms held superseded_by offset"
)


class Judge:
    """`round`'s entries: (index, device_id) -> Entry."""

    def __init__(self, round_, spread_ms):
        self.round, self.spread_ms = round_, spread_ms
        self.entries = collections.defaultdict(Entry)
        self.disruptions = []
        self.late_max_ms = 0
        self.reasons = collections.Counter()

    def take(self, index, device_id, record):
        """One output record; `record` None: a null value on the deferred topic."""
        entry = self.entries[(index, device_id)]
        if record is None:
            entry.nulls += 1
        elif record.outcome == "deferred":
            entry.defers.append(record)
        else:
            entry.finals.append(record)
            if len(entry.finals) > 1:
                raise CheckFailed(f"{self.name(index, device_id)} ended twice: {entry.finals}")

    def name(self, index, device_id):
        return f"{self.round.notification_id(index)} of {device_id}"

    # What is still to come.

    def missing(self):
        """Names of what has not ended yet."""
        found = []
        for index in range(self.round.count):
            for device_id in self._due(index):
                if not self._has_ended(index, device_id):
                    found.append(self.name(index, device_id))
        return found

    def _due(self, index):
        """Devices that a record is due for; [None] where it was decided for nobody."""
        if (index, None) in self.entries:
            return [None]
        return [each.device_id for each in self.round.users[self.round.user_of[index]][0].devices]

    def _has_ended(self, index, device_id):
        entry = self.entries.get((index, device_id))
        if entry is None:
            return False
        # A hold has ended where its null value is there; an erased user's leaves nothing else.
        if entry.defers and entry.nulls < 1:
            return False
        return bool(entry.finals) or self._is_erased(index)

    def _is_erased(self, index):
        return self.round.users[self.round.user_of[index]][-1].devices is None

    # The judgement.

    def check(self):
        missing = self.missing()
        expect(not missing, f"{len(missing)} have not ended: {', '.join(missing[:8])}")
        self.newer = self._newer()
        for (index, device_id), entry in self.entries.items():
            expect(device_id in self._due(index), f"a record that is not due: {self.name(index, device_id)}: {entry.finals}")
            try:
                self._check_entry(index, device_id, entry)
            except CheckFailed as error:
                versions = self.round.users[self.round.user_of[index]]
                told = [(v.number, v.since_ms, v.until_ms, v.devices and [(d.zone, d.window) for d in v.devices]) for v in versions]
                raise CheckFailed(
                    f"{self.name(index, device_id)}: {error}\n   finals {entry.finals}\n   defers {entry.defers}"
                    f"\n   nulls {entry.nulls}, documents {told}, disruptions {self.disruptions}"
                ) from None
        return self

    def _check_entry(self, index, device_id, entry):
        for record in entry.finals:
            self.reasons[record.reason] += 1
        if device_id is None:
            return self._check_for_nobody(index, entry)
        first_holds = [record for record in entry.defers if record.held is None]
        chain = sorted(entry.defers, key=lambda record: record.offset)
        if not chain:
            expect_equal(entry.nulls, 0, "null values of what was never held")
            expect_equal(len(entry.finals), 1, "records")
            expect_equal(entry.finals[0].held, None, "held, of what was never held")
            return self._check_decision(index, device_id, entry.finals[0])
        expect_equal(len(first_holds), 1, "first holds")
        expect(chain[0].held is None, "held on before it was held")
        expect_equal(entry.nulls, 1, "null values of one hold")
        chain += entry.finals
        self._check_decision(index, device_id, chain[0])
        for before, record in zip(chain, chain[1:]):
            expect_equal(record.held, (chain[0].decided_ms, chain[0].deliver_ms), "held, by the first decision")
            if record.reason == "superseded":
                self._check_superseded(index, device_id, record)
            else:
                self._check_decision(index, device_id, record, is_release=True)
                self._check_time(index, device_id, before, record)
                self._check_not_superseded(index, device_id, record)
        if not entry.finals:
            expect(self._is_erased(index), "no end, and its user was not erased")

    def _check_for_nobody(self, index, entry):
        expect_equal((len(entry.finals), len(entry.defers), entry.nulls), (1, 0, 0), "finals, holds, null values")
        record = entry.finals[0]
        expires = self.round.expires_ms[index]
        if expires is not None and expires <= record.decided_ms:
            wanted = "expired"
        else:
            wanted = "unknown_user"
            expect(self._is_erased(index), "an unknown user who was never erased")
            erased = self.round.users[self.round.user_of[index]][-1]
            expect(record.decided_ms >= erased.since_ms, "an unknown user before the erasure")
        expect_equal((record.reason, record.blocked_by), (wanted, [wanted]), "reason")

    def _version(self, index, record):
        """The document that a record says it was decided on; it must be one that the gate may have had."""
        versions = self.round.users[self.round.user_of[index]]
        found = [version for version in versions if version.number == record.version and version.devices is not None]
        expect(found, f"decided on version {record.version}, which is none")
        version = found[0]
        later = versions[versions.index(version) + 1 :]
        expect(version.since_ms <= record.decided_ms, "decided on a document before it was written")
        expect(
            all(record.decided_ms < other.until_ms + FOLLOW_MS for other in later),
            f"decided on version {record.version} when a newer one had long been there",
        )
        return version

    def _check_decision(self, index, device_id, record, is_release=False):
        if record.reason == "expired" and is_release:
            # As for a candidate: the preferences had no part in it.
            expires = self.round.expires_ms[index]
            expect(expires is not None and expires <= record.decided_ms, "expired before its time")
            return expect_equal(record.blocked_by, ["expired"], "blocked_by")
        version = self._version(index, record)
        device = device_in(version, device_id)
        wanted = self.decide(index, version, device, record.decided_ms, is_release)
        found = (record.outcome, record.reason, record.blocked_by, record.deliver_ms)
        expect_equal(found, wanted, "outcome, reason, blocked_by, deliver_after")

    def decide(self, index, version, device, at_ms, is_release):
        """(outcome, reason, blocked_by, deliver_after) of a candidate that has not expired."""
        category, expires = self.round.category_of[index], self.round.expires_ms[index]
        expect(expires is None or expires > at_ms, "decided as if it had not expired")
        blocked = []
        if category == "transactional" and version.off:
            blocked.append("account_opted_out")
        if device.denied:
            blocked.append("os_permission_denied")
        if device.expired:
            blocked.append("token_expired")
        quiet_until = self.quiet_until(device, at_ms)
        if quiet_until and category in ("social", "marketing"):
            blocked.append("quiet_hours_dropped")
        if quiet_until and category == "transactional" and expires is not None and expires <= quiet_until:
            blocked.append("expires_in_quiet_hours")
        if blocked:
            return "dropped", blocked[0], blocked, None
        if quiet_until and category == "transactional":
            return "deferred", "quiet_hours_deferred", [], quiet_until
        if is_release:
            return "approved", "released", [], None
        return "approved", "quiet_hours_bypassed" if quiet_until else "ok", [], None

    def quiet_until(self, device, at_ms):
        return self.round.table.quiet_until(device.zone, device.window, at_ms) if device.window else 0

    # Superseding.

    def _newer(self):
        """index -> those behind it of the same user and collapse_key, in order."""
        of = collections.defaultdict(list)
        for index, key in enumerate(self.round.collapse_of):
            if key:
                of[(self.round.user_of[index], key)].append(index)
        return {index: indexes[place + 1 :] for indexes in of.values() for place, index in enumerate(indexes)}

    def _first(self, index, device_id):
        """The first decision of one that was let through; None where it was not."""
        entry = self.entries.get((index, device_id))
        first = min(entry.defers + entry.finals, key=lambda one: one.decided_ms) if entry else None
        return first if first and first.outcome in ("approved", "deferred") else None

    def _check_superseded(self, index, device_id, record):
        expect_equal(record.blocked_by, ["superseded"], "blocked_by")
        newer = record.superseded_by
        expect(newer in self.newer.get(index, ()), f"superseded by {newer}, which is none of {self.newer.get(index)}")
        first = self._first(newer, device_id)
        expect(first is not None, f"superseded by {newer}, which was not let through")
        expect_equal(first.decided_ms, record.decided_ms, "the instant of both decisions")

    def _check_not_superseded(self, index, device_id, record):
        """Nothing newer was let through while it was held."""
        for newer in self.newer.get(index, ()):
            first = self._first(newer, device_id)
            expect(first is None or first.decided_ms >= record.decided_ms, f"still there after {newer} was let through")

    # Times.

    def _check_time(self, index, device_id, before, record):
        """The next decision of a hold: when it had to be, `before` being the one that held it."""
        earliest, latest = self._free(index, device_id, before, record)
        if record.reason == "expired":
            return
        expect(record.decided_ms >= earliest, f"{earliest - record.decided_ms} ms early: it was due at {earliest}")
        # By when it was written, not only by what it says.
        seen_ms = max(record.decided_ms, record.stamp_ms) - self.spread_ms
        limit = self._recovered(latest)
        # It was free while nobody could let it go; whoever took over found the user in a window again.
        while latest < limit < seen_ms - LATE_MS and (until := self._quiet_at(index, device_id, record, limit)):
            limit = self._recovered(until)
        late = seen_ms - limit
        self.late_max_ms = max(self.late_max_ms, late)
        expect(late <= LATE_MS, f"{late} ms later than the spread behind {limit}; it was due at {latest}")

    def _recovered(self, limit):
        """The end of what was disturbed about then; the instant itself where nothing was."""
        for begun, ended in sorted(self.disruptions):
            if begun <= limit + self.spread_ms + LATE_MS and ended > limit:
                limit = ended
        return limit

    def _quiet_at(self, index, device_id, record, at_ms):
        """Until when the document that decided keeps the device quiet at an instant; 0: it does not."""
        return self.quiet_until(device_in(self._document(index, record), device_id), at_ms)

    def _document(self, index, record):
        """The document that a record was decided on; the first where it says none."""
        return next(each for each in self.round.users[self.round.user_of[index]] if each.number == (record.version or 1))

    def _free(self, index, device_id, before, record):
        """(not before, not after): when the hold becomes free to leave, without the spread.

        By the window that held it; where `record` is decided on a newer document, by what that makes of it from some
        instant on between its writing and its being heeded at the latest."""

        def free(version, at):
            return max(at, self.quiet_until(device_in(version, device_id), at))

        held_by, decided_by = self._document(index, before), self._document(index, record)
        end = free(held_by, before.decided_ms)
        if held_by is decided_by:
            return end, end
        if "expires_in_quiet_hours" in record.blocked_by:
            # Moved to where it could only expire: dropped as soon as that is known.
            return decided_by.since_ms, max(before.decided_ms, decided_by.until_ms) + FOLLOW_MS
        # A hold is not woken by a document that leaves the window as it was.
        if decided_by.off or any(each.expired for each in decided_by.devices):
            return end, end
        heeded = max(before.decided_ms, decided_by.since_ms), decided_by.until_ms + FOLLOW_MS
        ends = [free(decided_by, at) for at in heeded]
        return min(end, *ends), max(ends)


def device_in(version, device_id):
    return next(each for each in version.devices if each.device_id == device_id)

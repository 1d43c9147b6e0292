"""Wrong gates, each wrong in one rule: a fuzzer that lets one pass is blind to that rule.

Each entry changes the oracle's own modules in a process that lives for this alone (see check.py).
"""

import inputs
import instants
import oracle
import strict_json
import window
from inputs import SUPPRESSIONS, Candidate, Choice, Document

MUTANTS = {}


def mutant(function):
    MUTANTS[function.__name__] = function
    return function


def wrap(owner, name, change):
    """Replaces a function by `change(original, *arguments)`."""
    original = getattr(owner, name)
    setattr(owner, name, lambda *arguments, **named: change(original, *arguments, **named))


def edit_records(change):
    """Applies `change(record)` to each sampled record, which may return another."""
    wrap(oracle, "sample", lambda original, record: change(original(record)))


# The candidate itself.


@mutant
def ids_may_be_129_bytes_long():
    inputs.ID_BYTES_MAX = 129


@mutant
def names_may_be_66_bytes_long():
    inputs.NAME_BYTES_MAX = 66


@mutant
def depth_65_is_read():
    wrap(strict_json, "parse", lambda original, data, depth_max=65: original(data, 65))


@mutant
def depth_64_is_refused():
    wrap(strict_json, "parse", lambda original, data, depth_max=63: original(data, 63))


@mutant
def repeated_members_are_let_through():
    wrap(strict_json, "has_repeated_member", lambda original, node, opaque=(): False)


@mutant
def repeated_members_of_a_payload_are_refused():
    wrap(strict_json, "has_repeated_member", lambda original, node, opaque=(): original(node))


@mutant
def control_characters_are_let_through():
    inputs.is_id = lambda node: node.kind == "string" and 1 <= len(node.value.encode()) <= 128


@mutant
def records_may_be_one_byte_longer():
    wrap(Candidate, "__init__", lambda original, self, data, limit: original(self, data, limit + 1))


@mutant
def payload_at_the_limit_is_refused():
    wrap(oracle, "Candidate", lambda original, *arguments: bump(original(*arguments)))


def bump(candidate):
    candidate.payload_bytes += 1
    return candidate


@mutant
def milliseconds_are_cut_off():
    wrap(instants, "from_node", lambda original, node: original(node) // 1000 * 1000)


@mutant
def offsets_are_ignored():
    wrap(
        instants,
        "from_text",
        lambda original, text: original(text[:-6] + "Z" if text[-6:-5] in "+-" else text),
    )


@mutant
def seconds_are_taken_for_milliseconds():
    instants._ranged = lambda ms: ms


@mutant
def a_null_member_is_a_fault():
    def typed(original, node, name, kind, otherwise):
        found = node.member(name)
        if found is not None and found.kind == "null":
            raise inputs.Unreadable(name)
        return original(node, name, kind, otherwise)

    wrap(inputs, "_typed", typed)


@mutant
def any_lane_may_be_critical():
    oracle.Oracle.is_allow_listed = lambda self, candidate, source: (
        candidate.category == "security" and candidate.event in self.policy["critical_allow_list"]
    )


@mutant
def any_category_on_the_security_topic():
    wrap(
        oracle.Oracle,
        "decide",
        lambda original, self, data, source, now: original(self, data, "candidate", now),
    )


@mutant
def expiry_at_now_is_not_yet_expired():
    wrap(
        oracle.Oracle,
        "candidate_reason",
        lambda original, self, candidate, source, now: original(self, candidate, source, now - 1),
    )


@mutant
def payload_size_before_category():
    def reason(original, self, candidate, source, now):
        large = candidate.payload_bytes > self.policy["payload_bytes_max"]
        return "payload_too_large" if large else original(self, candidate, source, now)

    wrap(oracle.Oracle, "candidate_reason", reason)


@mutant
def the_first_document_wins():
    def read(original, lines):
        return original(list(lines)[::-1])

    wrap(inputs, "read_preferences", read)


@mutant
def sixty_five_devices_are_read():
    inputs.DEVICES_MAX = 65


# Choice, consent, suppression.


@mutant
def an_overseas_territory_is_not_regulated():
    oracle.REGULATED = oracle.REGULATED - {"YT", "RE", "MF"}


@mutant
def lower_case_regions_are_read():
    wrap(
        oracle.Oracle,
        "is_regulated",
        lambda original, self, region: original(self, region and region.upper()),
    )


@mutant
def unknown_regions_are_free():
    wrap(
        oracle.Oracle,
        "is_regulated",
        lambda original, self, region: region is not None and original(self, region) and region != "XK",
    )


@mutant
def the_policys_own_regions_are_forgotten():
    wrap(
        oracle.Oracle,
        "is_regulated",
        lambda original, self, region: (self.regulated_additional.clear(), original(self, region))[1],
    )


@mutant
def consent_may_lie_in_the_future():
    Choice.is_consent = lambda self, now: self.state == "user-on" and self.at is not None and self.source is not None


@mutant
def consent_needs_no_source():
    Choice.is_consent = lambda self, now: self.state == "user-on" and self.at is not None and self.at <= now


@mutant
def consent_at_this_instant_is_too_late():
    wrap(Choice, "is_consent", lambda original, self, now: original(self, now - 1))


@mutant
def anyone_may_switch_security_off():
    oracle.Oracle.state_in_force = staticmethod(lambda category, choice: choice.state)


@mutant
def nobody_may_switch_security_off():
    oracle.Oracle.state_in_force = staticmethod(
        lambda category, choice: "default" if category == "security" and choice.state == "user-off" else choice.state
    )


@mutant
def defaults_are_ignored():
    inputs.read_defaults = lambda lines: {}


@mutant
def the_first_default_wins():
    wrap(inputs, "read_defaults", lambda original, lines: original(list(lines)[::-1]))


@mutant
def the_account_alone_is_suppressed():
    wrap(
        inputs.Device,
        "__init__",
        lambda original, self, node: (original(self, node), setattr(self, "suppressions", []))[0],
    )


@mutant
def the_mildest_suppression_is_shown():
    oracle.SUPPRESSIONS = SUPPRESSIONS[::-1]


@mutant
def mutes_are_ignored():
    wrap(Document, "__init__", lambda original, self, node: (original(self, node), self.mutes.clear())[0])


@mutant
def only_the_first_reason_is_listed():
    edit_records(lambda record: record | {"blocked_by": record["blocked_by"][:1]})


@mutant
def sms_rests_on_any_choice():
    wrap(
        oracle.Oracle,
        "approval",
        lambda original, self, candidate, *rest: (
            original(self, candidate, *rest) | {"sms_fallback": "allowed" if candidate.sms_fallback else "forbidden"}
        ),
    )


@mutant
def provisional_may_be_critical():
    edit_records(
        lambda record: (
            record | {"critical": True}
            if record.get("interruption") == "passive" and record["category"] == "security"
            else record
        )
    )


# Quiet hours.


def of_window(change):
    wrap(window.Window, "holds", change)


@mutant
def the_end_minute_is_quiet():
    of_window(lambda original, self, zone, minute: original(self, zone, minute) or original(self, zone, minute - 1))


@mutant
def weekdays_are_those_of_the_instant():
    def holds(original, self, zone, minute):
        weekday, at = window.wall(zone, minute)
        inside = self.start <= at < self.end if self.start < self.end else at >= self.start or at < self.end
        return inside and weekday in self.days

    of_window(holds)


@mutant
def the_offset_is_that_of_the_day():
    wrap(window, "_offset", lambda original, name, minute: original(name, minute - minute % 1440))


@mutant
def no_summer_time_after_2037():
    wrap(window, "_offset", lambda original, name, minute: original(name, min(minute, 35_742_000)))


@mutant
def the_account_zone_goes_first():
    def hours(original, self, document, device, now):
        if document.account.zone is not None:
            device.zone = None
        return original(self, document, device, now)

    wrap(oracle.Oracle, "hours", hours)


@mutant
def an_unknown_zone_is_the_fallback():
    def scope(original, self, node):
        original(self, node)
        if node.get("timezone") is not None and self.zone is None:
            self.zone = "UTC"

    wrap(inputs.Scope, "__init__", scope)


@mutant
def zones_that_only_debian_has():
    wrap(window, "zone_ids", lambda original: original() | {"Factory", "localtime", "posix/UTC"})


@mutant
def a_null_window_is_the_accounts():
    wrap(
        inputs.Device,
        "__init__",
        lambda original, self, node: (
            original(self, node),
            setattr(self, "has_own_window", self.window is not None),
        )[0],
    )


@mutant
def an_end_of_24_00_is_unreadable():
    def read(original, node):
        end = node.get("end") if node.kind == "object" else None
        return window.UNREADABLE if end is not None and end.value == "24:00" else original(node)

    wrap(window, "read_window", read)


@mutant
def clocks_are_read_loosely():
    wrap(window, "_clock", lambda original, text: original(text.strip().rjust(5, "0")))


@mutant
def holds_are_not_bounded():
    def init(original, self, quiet, zone, source, now):
        original(self, quiet, zone, source, now)
        if self.ends_at is None:
            self.ends_at = now

    wrap(oracle.Hours, "__init__", init)


@mutant
def an_end_after_a_week_is_no_end():
    window.END_SEARCH_MINUTES = 3 * 1440


@mutant
def approvals_last_past_the_next_window():
    oracle.Hours.next_start = lambda self: None


@mutant
def expiry_inside_the_window_is_held():
    edit_records(
        lambda record: record | {"blocked_by": [r for r in record["blocked_by"] if r != "expires_in_quiet_hours"]}
    )


@mutant
def events_pass_nothing():
    wrap(
        oracle.Oracle,
        "__init__",
        lambda original, self, policy, *rest: original(self, policy | {"bypass_events": []}, *rest),
    )

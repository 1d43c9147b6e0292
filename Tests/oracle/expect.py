"""What an output record must hold: plain values, and matchers where the contract leaves room.

A record may hold more than is expected of it; what is expected must be there.
"""

import instants


class Matcher:
    """`matches(got, present)`: whether a member's value, or its absence, is allowed. `sample` is one that is."""

    def matches(self, got, present):
        raise NotImplementedError


class Anything(Matcher):
    """Any value; the member must be there unless `optional`."""

    def __init__(self, optional=False, sample=None):
        self.optional, self.sample = optional, sample

    def matches(self, got, present):
        return present or self.optional

    def __repr__(self):
        return "anything"


class OneOf(Matcher):
    """One of several values, each compared as expected values are."""

    def __init__(self, *values):
        self.values, self.sample = values, values[0]

    def matches(self, got, present):
        return present and any(not differences(value, got) for value in self.values)

    def __repr__(self):
        return "one of " + ", ".join(map(repr, self.values))


class AbsentOr(Matcher):
    """No such member, null, or the value."""

    def __init__(self, value):
        self.value = value

    def matches(self, got, present):
        return not present or got is None or not differences(self.value, got)

    def __repr__(self):
        return f"absent, null or {self.value!r}"


class At(Matcher):
    """An instant, in whatever form a record may write it."""

    def __init__(self, ms):
        self.ms, self.sample = ms, instants.to_text(ms)

    def matches(self, got, present):
        if isinstance(got, bool) or not isinstance(got, (str, int)):
            return False
        try:
            return (got if isinstance(got, int) else instants.from_text(got)) == self.ms
        except (instants.BadInstant, instants.Unfixed):
            return False

    def __repr__(self):
        return self.sample


class Text(Matcher):
    """A string that is not empty."""

    sample = "text"

    def matches(self, got, present):
        return isinstance(got, str) and got != ""

    def __repr__(self):
        return "a text"


def at_or_null(ms):
    return None if ms is None else At(ms)


def differences(want, got, path="", present=True):
    """[(path, wanted, got)] for every member that is not as expected."""
    if isinstance(want, Matcher):
        return [] if want.matches(got, present) else [(path, want, got if present else "absent")]
    if not present:
        return [(path, want, "absent")]
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return [(path, want, got)]
        return [
            d
            for name, value in want.items()
            for d in differences(value, got.get(name), f"{path}.{name}" if path else name, name in got)
        ]
    # Types too: true is not 1, and 1.0 is not 1.
    same = type(want) is type(got) and want == got
    return [] if same else [(path, want, got)]


def sample(want):
    """A record that the expectation allows."""
    if isinstance(want, Matcher):
        return sample(want.sample)
    if isinstance(want, dict):
        return {name: sample(value) for name, value in want.items() if not isinstance(value, AbsentOr)}
    return want

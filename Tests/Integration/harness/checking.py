"""How a test says what must hold, and waits for what must come to hold."""

import time


class CheckFailed(Exception):
    """Something that must hold does not."""


def expect(holds, words):
    if not holds:
        raise CheckFailed(words)


def expect_equal(got, wanted, what):
    if got != wanted:
        raise CheckFailed(f"{what}: wanted {wanted!r}, got {got!r}")


def until(what, condition, seconds=30, every=0.02):
    """Polls `condition` until it returns something true, and returns that.

    Never a fixed wait: a slow machine gets the whole time, a fast one loses none.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise CheckFailed(f"not within {seconds} s: {what}")
        time.sleep(every)


def until_equal(get, wanted, what, seconds=30):
    """Polls `get` until it returns `wanted`: a gate counts what it committed a moment after it can be read, and sets its
    gauges once a second. Fails with what it returned last."""
    got = None

    def look():
        nonlocal got
        got = get()
        return got == wanted

    try:
        until(what, look, seconds, every=0.05)
    except CheckFailed:
        raise CheckFailed(f"{what}: wanted {wanted!r}, got {got!r} for {seconds} s") from None


def let_pass(seconds):
    """Lets time pass where time itself is the condition: a time-out to run out, a random moment to come."""
    time.sleep(seconds)

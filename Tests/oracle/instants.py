"""Instants as records carry them: ISO 8601 with an offset or `Z`, or integer milliseconds since the epoch."""

import re
from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MS_MIN = 946_684_800_000  # 2000-01-01T00:00:00Z
MS_2200 = 7_258_118_400_000  # 2200-01-01T00:00:00Z
MS_2201 = 7_289_654_400_000  # 2201-01-01T00:00:00Z

STRICT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):(\d\d))", re.ASCII)
# ISO 8601, or one edition or profile of it, allows these; whether a record may use them is not fixed.
LOOSE = re.compile(
    r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d|\d{3})[Tt ]\d\d(?::?\d\d(?::?\d\d)?)?(?:[.,]\d+)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)",
    re.ASCII,
)
INTEGER = re.compile(rb"-?\d+")


class Unfixed(Exception):
    """The contract does not say what this input means, so nothing may be expected of it."""


class BadInstant(Exception):
    """Not an instant."""


def from_node(node):
    """Milliseconds since the epoch; raises BadInstant or Unfixed."""
    if node.kind == "string":
        return from_text(node.value)
    if node.kind != "number":
        raise BadInstant(node.kind)
    if INTEGER.fullmatch(node.raw):
        # A literal of hundreds of digits is out of range whatever it is; int() would refuse it.
        return _ranged(int(node.raw) if len(node.raw) < 20 else -1)
    if float(node.raw).is_integer():
        raise Unfixed("an integer written with a fraction or an exponent")
    raise BadInstant("not an integer")


def from_text(text):
    """Milliseconds since the epoch of an ISO 8601 text, a finer fraction cut off."""
    match = STRICT.fullmatch(text)
    if not match:
        if LOOSE.fullmatch(text):
            raise Unfixed(f"a looser form: {text}")
        raise BadInstant(text)
    year, month, day, hour, minute, second = (int(match.group(i)) for i in range(1, 7))
    offset = timedelta(0)
    if match.group(9):
        hours, minutes = int(match.group(10)), int(match.group(11))
        if hours > 23 or minutes > 59:
            raise BadInstant("no such offset")
        if hours * 60 + minutes > 14 * 60 or (match.group(9) == "-" and hours == minutes == 0):
            raise Unfixed("an offset no place has")
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if match.group(9) == "-" else 1)
    if second == 60 and hour < 24 and minute < 60:
        raise Unfixed("a leap second")
    if (hour, minute, second) == (24, 0, 0):
        raise Unfixed("the end of a day as 24:00")
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        raise BadInstant(text) from None
    ms = int((local - EPOCH) / timedelta(seconds=1)) * 1000 + int(((match.group(7) or "") + "000")[:3])
    return _ranged(ms - int(offset / timedelta(milliseconds=1)))


def _ranged(ms):
    if ms < MS_MIN or ms >= MS_2201:
        raise BadInstant("outside 2000 to 2200")
    if ms >= MS_2200:
        raise Unfixed("within the year 2200")
    return ms


def to_text(ms):
    """The form the gate writes."""
    at = EPOCH + timedelta(milliseconds=ms)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"

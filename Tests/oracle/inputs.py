"""Candidates, preference documents and defaults as the contract reads them."""

import instants
import strict_json
import window
from instants import BadInstant, Unfixed

CATEGORIES = ("transactional", "security", "social", "marketing")
STATES = ("default", "user-on", "user-off")
PERMISSIONS = ("granted", "denied", "provisional")
TOKENS = ("active", "expired", "revoked")
SUPPRESSIONS = ("legal_hold", "abuse_hold", "bounced")  # the strictest first
ID_BYTES_MAX = 128
NAME_BYTES_MAX = 64
DEVICES_MAX = 64


class Unreadable(Exception):
    """The input cannot be read."""


def _object(data, opaque=()):
    try:
        node = strict_json.parse(data)
    except strict_json.Malformed as error:
        raise Unreadable(str(error)) from None
    if node.kind != "object":
        raise Unreadable("not an object")
    if strict_json.has_lone_surrogate(node, opaque):
        raise Unfixed("half a surrogate pair")
    if strict_json.has_repeated_member(node, opaque):
        raise Unreadable("a repeated member")
    return node


def _id(node, name, required=True):
    found = node.get(name)
    if found is None:
        if required:
            raise Unreadable(f"{name} is missing")
        return None
    if not is_id(found):
        raise Unreadable(f"{name} is not an id")
    return found.value


def is_id(node):
    if node.kind != "string":
        return False
    if any("\x80" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in node.value):
        raise Unfixed("a control character of the second block, or half a surrogate pair")
    size = len(node.value.encode("utf-8"))
    return 1 <= size <= ID_BYTES_MAX and not any(c < " " or c == "\x7f" for c in node.value)


def _typed(node, name, kind, otherwise):
    found = node.get(name)
    if found is None:
        return otherwise
    if found.kind != kind:
        raise Unreadable(f"{name} is not of kind {kind}")
    return found.value


def _instant(node, name):
    found = node.get(name)
    if found is None:
        return None
    try:
        return instants.from_node(found)
    except BadInstant as error:
        raise Unreadable(f"{name}: {error}") from None


class Candidate:
    """A readable candidate. `raw` is its bytes without the white space around them."""

    def __init__(self, data, record_bytes_max):
        if len(data) > record_bytes_max:
            raise Unreadable("too long")
        node = _object(data, opaque=("payload",))
        self.raw = node.raw
        self.notification_id = _id(node, "notification_id")
        self.user_id = _id(node, "user_id")
        self.device_id = _id(node, "device_id", required=False)
        self.category = _typed(node, "category", "string", None)
        if self.category is None:
            raise Unreadable("category is missing")
        self.subtype, self.event, self.collapse_key = (
            self._name(node, name) for name in ("subtype", "event", "collapse_key")
        )
        self.critical = _typed(node, "critical", "bool", False)
        self.sms_fallback = _typed(node, "sms_fallback", "bool", False)
        self.created_at = _instant(node, "created_at")
        self.expires_at = _instant(node, "expires_at")
        payload = node.get("payload")
        if payload is not None and payload.kind != "object":
            raise Unreadable("payload is not an object")
        self.payload_bytes = 0 if payload is None else len(payload.raw)

    @staticmethod
    def _name(node, name):
        value = _typed(node, name, "string", None)
        if value is not None and len(value.encode("utf-8")) > NAME_BYTES_MAX:
            raise Unreadable(f"{name} is too long")
        return value


def readable_ids(data):
    """What ids an unreadable candidate yields all the same: name -> value. None where it is not JSON to trust."""
    try:
        node = strict_json.parse(data)
    except strict_json.Malformed:
        return None
    if node.kind != "object" or strict_json.has_repeated_member(node, ("payload",)):
        return None
    ids = {}
    for name in ("notification_id", "user_id", "device_id"):
        found = node.get(name)
        try:
            if found is not None and is_id(found):
                ids[name] = found.value
        except Unfixed:
            continue
    return ids


class Choice:
    """A stored choice: state, time (ms or None), source (or None)."""

    def __init__(self, node):
        state = node.get("state") if node is not None and node.kind == "object" else None
        if node is not None and state is None:
            raise Unfixed("a choice without a state")
        self.state = "default" if node is None else state.value
        if self.state not in STATES:
            raise Unreadable(f"no such state: {self.state}")
        try:
            self.at = None if node is None else _instant(node, "at")
        except Unreadable:
            # A time that cannot be read is none: no consent rests on it.
            self.at = None
        source = None if node is None else node.get("source")
        if source is not None and (source.kind != "string" or source.value == ""):
            raise Unfixed("a source that is no text")
        self.source = None if source is None else source.value

    def is_consent(self, now):
        return self.state == "user-on" and self.at is not None and self.at <= now and self.source is not None


class Scope:
    """What an account and a device have in common."""

    def __init__(self, node):
        categories = node.get("categories")
        if categories is not None and categories.kind != "object":
            raise Unfixed("categories that are no object")
        self.choices = {c: Choice(categories.get(c) if categories else None) for c in CATEGORIES}
        self.suppressions = _texts(node, "suppressions")
        if not set(self.suppressions) <= set(SUPPRESSIONS):
            raise Unfixed("an unknown suppression")
        zone = node.get("timezone")
        if zone is not None and zone.kind != "string":
            raise Unfixed("a zone that is no text")
        # An unknown id counts as absent.
        self.zone = zone.value if zone is not None and zone.value in window.zone_ids() else None


def _texts(node, name):
    found = node.get(name)
    if found is None:
        return []
    if found.kind != "array" or any(item.kind != "string" for item in found.value):
        raise Unfixed(f"{name} that are no texts")
    return [item.value for item in found.value]


def _one_of(node, name, allowed):
    found = node.get(name)
    if found is None:
        raise Unfixed(f"no {name}")
    if found.kind != "string" or found.value not in allowed:
        raise Unreadable(f"no such {name}")
    return found.value


class Device(Scope):
    def __init__(self, node):
        if node.kind != "object":
            raise Unreadable("a device that is no object")
        super().__init__(node)
        self.device_id = _id(node, "device_id")
        if node.get("platform") is None or node.get("platform").value not in ("ios", "android"):
            raise Unfixed("an unknown platform")
        self.platform = node.get("platform").value
        self.permission = _one_of(node, "os_permission", PERMISSIONS)
        self.token = _one_of(node, "token_status", TOKENS)
        region = node.get("region")
        if region is not None and region.kind != "string":
            raise Unfixed("a region that is no text")
        self.region = None if region is None else region.value
        own = node.member("quiet_hours")
        self.has_own_window = own is not None
        self.window = None if own is None or own.kind == "null" else window.read_window(own)


class Document:
    def __init__(self, node):
        account = node.get("account")
        if account is None or account.kind != "object":
            raise Unfixed("no account")
        version = node.get("version")
        if version is None or version.kind != "number" or not instants.INTEGER.fullmatch(version.raw):
            raise Unfixed("no version")
        self.version = int(version.raw)
        self.account = Scope(account)
        hours = account.get("quiet_hours")
        self.window = None if hours is None else window.read_window(hours)
        mutes = account.get("muted_subtypes")
        self.mutes = {} if mutes is None else {c: _texts(mutes, c) for c in CATEGORIES}
        self.sms = Choice(account.get("sms"))
        devices = node.get("devices")
        if devices is not None and devices.kind != "array":
            raise Unreadable("devices that are no list")
        nodes = [] if devices is None else devices.value
        if len(nodes) > DEVICES_MAX:
            raise Unreadable("too many devices")
        self.devices = [Device(device) for device in nodes]
        ids = [device.device_id for device in self.devices]
        if len(set(ids)) != len(ids):
            raise Unfixed("two devices of one id")


UNREADABLE = object()


def read_preferences(lines):
    """user_id -> Document or UNREADABLE, the latest line of a user winning."""
    table = {}
    for line in filter(None, (each.strip() for each in lines)):
        try:
            user_id = _id(strict_json.parse(line), "user_id")
        except (Unreadable, strict_json.Malformed) as error:
            raise Unfixed(f"a document whose user cannot be read: {error}") from None
        try:
            table[user_id] = Document(_object(line))
        except Unreadable:
            table[user_id] = UNREADABLE
    return table


def read_defaults(lines):
    """category -> (default, regulated_default) as booleans; the newest of a category wins."""
    table = {}
    for line in filter(None, (each.strip() for each in lines)):
        node = _object(line)
        category = _typed(node, "category", "string", None)
        pair = [_typed(node, name, "string", None) for name in ("default", "regulated_default")]
        if category not in CATEGORIES or any(state not in ("on", "off") for state in pair):
            raise Unfixed("a default that cannot be read")
        # Refused: whatever came before it, security stays on.
        if category != "security" or pair == ["on", "on"]:
            table[category] = tuple(state == "on" for state in pair)
    return table

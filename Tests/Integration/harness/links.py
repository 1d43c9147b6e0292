"""Signed links as the documentation describes them, in nothing but Python's own library."""

import base64
import hashlib
import hmac
import re

CATEGORIES = {0: None, 1: "transactional", 2: "security", 3: "social", 4: "marketing"}
PURPOSES = {1: "unsubscribe", 2: "settings", 3: "undo"}


def read_keys(path):
    """id -> secret, and the id of the key that signs."""
    keys, signing = {}, None
    for line in path.read_text().splitlines():
        words = line.split()
        if words and words[0] == "signing":
            signing = int(words[1])
        elif words and words[0] == "key":
            keys[int(words[1])] = bytes.fromhex(words[3])
    return keys, signing


def verify(token, keys, now):
    """What a token says, as a dict; None where it is no good."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", token):
        return None
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return None
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != token or len(raw) < 45 or raw[0] != 1:
        return None
    body, tag = raw[:-32], raw[-32:]
    secret = keys.get(int.from_bytes(body[1:3], "big"))
    if secret is None or not hmac.compare_digest(hmac.new(secret, body, hashlib.sha256).digest(), tag):
        return None
    user_end = 11 + body[10]
    user, rest = body[11:user_end], body[user_end:]
    expires = int.from_bytes(body[5:10], "big")
    if not user or not rest or len(rest) != 1 + rest[0] or expires <= now:
        return None
    return {
        "key": int.from_bytes(body[1:3], "big"),
        "purpose": PURPOSES[body[3]],
        "category": CATEGORIES[body[4]],
        "expires": expires,
        "user_id": user.decode(),
        "notification_id": rest[1:].decode() or None,
    }

"""A strict reader of RFC 8259 over bytes.

The standard library's reader forgives too much for an oracle (NaN, the last of two equal members, any
depth) and loses what a decision needs: where a value's bytes begin and end, and how a number was written.
"""

import re

DEPTH_MAX = 64

SPACE = re.compile(rb"[ \t\n\r]*")
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
HEX4 = re.compile(r"[0-9a-fA-F]{4}")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
WORDS = {b"t": (b"true", True), b"f": (b"false", False), b"n": (b"null", None)}


class Malformed(Exception):
    """Not one JSON value in valid UTF-8, or nested too deep."""


class Node:
    """One value: `kind` is object, array, string, number, bool or null; `raw` its bytes as written."""

    __slots__ = ("kind", "value", "raw")

    def __init__(self, kind, value, raw):
        self.kind, self.value, self.raw = kind, value, raw

    def get(self, name):
        """The member's node; None where absent, or null, which counts as absent."""
        found = self.member(name)
        return None if found is None or found.kind == "null" else found

    def member(self, name):
        """The member's node even where it is null."""
        return next((node for key, node in self.value if key == name), None)

    def plain(self):
        """The value as the standard library would give it (numbers as written, in a tuple)."""
        if self.kind == "object":
            return {key: node.plain() for key, node in self.value}
        if self.kind == "array":
            return [node.plain() for node in self.value]
        return ("number", self.raw) if self.kind == "number" else self.value


def parse(data, depth_max=DEPTH_MAX):
    """The one value in `data`. Depth counts open brackets, the outermost being the first."""
    try:
        data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error}") from None
    reader = _Reader(data, depth_max)
    node = reader.value(0)
    if reader.skip() != len(data):
        raise Malformed(f"something follows the value at byte {reader.at}")
    return node


def has_repeated_member(node, opaque=()):
    """Whether any object holds two equal names; members of the top object named in `opaque` are not searched."""
    if node.kind == "object":
        names = [key for key, _ in node.value]
        if len(set(names)) != len(names):
            return True
        return any(has_repeated_member(child) for key, child in node.value if key not in opaque)
    return node.kind == "array" and any(has_repeated_member(child) for child in node.value)


def has_lone_surrogate(node, opaque=()):
    """Whether an escape names half a surrogate pair: the grammar allows it, UTF-8 cannot hold it."""
    if node.kind == "string":
        return any("\ud800" <= c <= "\udfff" for c in node.value)
    if node.kind == "object":
        return any(
            any("\ud800" <= c <= "\udfff" for c in key) or (key not in opaque and has_lone_surrogate(child))
            for key, child in node.value
        )
    return node.kind == "array" and any(has_lone_surrogate(child) for child in node.value)


class _Reader:
    def __init__(self, data, depth_max):
        self.data, self.at, self.depth_max = data, 0, depth_max

    def skip(self):
        self.at = SPACE.match(self.data, self.at).end()
        return self.at

    def peek(self):
        return self.data[self.at : self.at + 1]

    def take(self, byte):
        if self.peek() != byte:
            raise Malformed(f"wanted {byte!r} at byte {self.at}")
        self.at += 1

    def value(self, depth):
        start = self.skip()
        first = self.peek()
        if first in (b"{", b"["):
            if depth == self.depth_max:
                raise Malformed("nested too deep")
            kind, value = ("object", self.object(depth + 1)) if first == b"{" else ("array", self.array(depth + 1))
        elif first == b'"':
            kind, value = "string", self.string()
        elif first in WORDS:
            word, value = WORDS[first]
            if self.data[start : start + len(word)] != word:
                raise Malformed(f"no such word at byte {start}")
            self.at = start + len(word)
            kind = "null" if value is None else "bool"
        else:
            number = NUMBER.match(self.data, start)
            if not number:
                raise Malformed(f"no value at byte {start}")
            self.at = number.end()
            kind, value = "number", number.group()
        return Node(kind, value, self.data[start : self.at])

    def object(self, depth):
        members = []
        self.take(b"{")
        self.skip()
        if self.peek() == b"}":
            self.at += 1
            return members
        while True:
            self.skip()
            name = self.string()
            self.skip()
            self.take(b":")
            members.append((name, self.value(depth)))
            self.skip()
            if self.peek() == b"}":
                self.at += 1
                return members
            self.take(b",")

    def array(self, depth):
        items = []
        self.take(b"[")
        self.skip()
        if self.peek() == b"]":
            self.at += 1
            return items
        while True:
            items.append(self.value(depth))
            self.skip()
            if self.peek() == b"]":
                self.at += 1
                return items
            self.take(b",")

    def string(self):
        self.take(b'"')
        # A quote that ends the string is preceded by an even number of backslashes.
        end = self.at
        while True:
            end = self.data.find(b'"', end)
            if end < 0:
                raise Malformed("a string without an end")
            slashes = end
            while slashes > self.at and self.data[slashes - 1 : slashes] == b"\\":
                slashes -= 1
            if (end - slashes) % 2 == 0:
                break
            end += 1
        text = self.data[self.at : end].decode("utf-8")
        self.at = end + 1
        return unescape(text)


def unescape(text):
    """The characters a string's text stands for; escaped surrogate pairs are joined."""
    out, at = [], 0
    while True:
        plain = PLAIN.match(text, at)
        out.append(plain.group())
        at = plain.end()
        if at == len(text):
            return "".join(out)
        if text[at] != "\\":
            raise Malformed("a raw control character in a string")
        letter = text[at + 1 : at + 2]
        if letter == "u":
            unit, at = _unit(text, at)
            if 0xD800 <= unit < 0xDC00 and text[at : at + 2] == "\\u":
                low, after = _unit(text, at)
                if 0xDC00 <= low < 0xE000:
                    unit, at = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), after
            out.append(chr(unit))
        elif letter in ESCAPES and letter:
            out.append(ESCAPES[letter])
            at += 2
        else:
            raise Malformed("no such escape")


def _unit(text, at):
    digits = HEX4.match(text, at + 2)
    if not digits:
        raise Malformed("four hexadecimal digits are wanted after \\u")
    return int(digits.group(), 16), at + 6

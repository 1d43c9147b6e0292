"""A tz database of a test's own (TZDIR), with zones whose wall clock says what the test wants it to say."""

import os
import struct
import time

# In each of its zones this window is the night; it ends at eight on the wall there.
NIGHT = {"start": "22:00", "end": "08:00"}
_END_SECOND = 8 * 3600


def _file(offset):
    """A TZif file, version 2, of a zone that is always `offset` seconds east of UTC."""

    def block(version):
        head = b"TZif" + version + b"\0" * 15 + struct.pack(">6l", 0, 0, 0, 0, 1, 4)
        return head + struct.pack(">lbb", offset, 0, 0) + b"ZZZ\0"

    west = abs(offset)
    text = f"ZZZ{'-' if offset >= 0 else ''}{west // 3600:02d}:{west // 60 % 60:02d}:{west % 60:02d}"
    return block(b"2") + block(b"2") + b"\n" + text.encode() + b"\n"


class MadeZones:
    def __init__(self, directory):
        self.path = os.path.join(directory, "zones")
        os.makedirs(self.path, exist_ok=True)
        self.write("UTC", 0)

    @property
    def environment(self):
        return {"TZDIR": self.path}

    def write(self, name, offset):
        """As a package manager does it: beside, then by renaming."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(_file(offset))
        os.replace(path + ".new", path)

    def night_until(self, name, end):
        """A zone where NIGHT ends at the Unix time `end`, a whole second."""
        offset = (_END_SECOND - end) % 86400
        self.write(name, offset - 86400 if offset > 43200 else offset)
        return name


def whole_second_in(seconds):
    """The Unix time so many seconds from now, rounded up to a whole second."""
    return int(time.time()) + 1 + seconds

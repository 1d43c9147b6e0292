"""Runs a program and watches how much processor time it and the broker take, from outside."""
import os
import subprocess
import sys
import tempfile
import time

INTERVAL_S = 0.05
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of a whole process; None where it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (int(fields[11]) + int(fields[12])) * TICK_S


class Busy:
    """What was seen: instants, and the processor seconds of client and broker up to each."""

    def __init__(self):
        self.samples = []

    def see(self, client, broker):
        seen = (time.monotonic(), cpu_seconds(client.pid), cpu_seconds(broker.pid) if broker else 0)
        if None not in seen:
            self.samples.append(seen)

    def _busiest(self, seconds):
        """The stretch of that length in which most was done: the run itself, which begins some time after
        its process and ends some time before it."""
        best = None
        end = 0
        for start, first in enumerate(self.samples):
            while end < len(self.samples) - 1 and self.samples[end][0] - first[0] < seconds:
                end += 1
            last = self.samples[end]
            work = last[1] + last[2] - first[1] - first[2]
            if best is None or work > best[0]:
                best = (work, last[0] - first[0], last[2] - first[2])
            if end == len(self.samples) - 1:
                break
        return best

    def cores(self, seconds):
        work, lasted, _ = self._busiest(seconds)
        return work / lasted if lasted else float("nan")

    def broker_seconds(self, seconds):
        broker = self._busiest(seconds)[2]
        return broker or None


def run(command, broker):
    """What the program printed, and what was seen meanwhile."""
    busy = Busy()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        client = subprocess.Popen(command, stdout=out, stderr=errors)
        while client.poll() is None:
            busy.see(client, broker)
            time.sleep(INTERVAL_S)
        out.seek(0)
        errors.seek(0)
        if client.returncode:
            sys.exit(f"{command[0]} ended with {client.returncode}:\n{errors.read().decode()[-4000:]}")
        return out.read().decode(), busy

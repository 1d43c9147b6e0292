"""`sendgate run` as a process, and what it says over HTTP."""

import http.client
import os
import re
import urllib.error
import urllib.request

from harness.brokers import free_port
from harness.checking import CheckFailed, expect_equal, until
from harness.processes import Process

SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")


class Gate(Process):
    """A running gate. `settings` go by `--set`."""

    FENCED = 80

    def __init__(self, world, name, settings, until_idle=None, environment=None):
        self.port = free_port()
        settings = {"http.address": f"127.0.0.1:{self.port}", **settings}
        command = [world.sendgate, "run", "--config", world.config_path]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        if until_idle is not None:
            command += ["--until-idle", str(until_idle)]
        super().__init__(name, command, world.directory, environment)

    def get(self, path, seconds=20):
        """(status, body) of a page; (None, reason) where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=seconds) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, http.client.HTTPException) as error:  # the latter: it ended amid its answer
            return None, str(error)

    def await_ready(self, seconds=60):
        """Waits until /readyz says 200."""

        def look():
            if not self.is_running():
                raise CheckFailed(f"{self.name} ended with {self.child.returncode} before it was ready")
            return self.get("/readyz")[0] == 200

        until(f"{self.name} is ready", look, seconds, every=0.05)
        return self

    def metrics(self):
        """[(name, labels, value)] of /metrics."""
        status, body = self.get("/metrics")
        expect_equal(status, 200, "/metrics")
        found = []
        for line in body.splitlines():
            match = SAMPLE.match(line)
            if match:
                labels = dict(re.findall(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"', match.group(2) or ""))
                found.append((match.group(1), labels, float(match.group(3))))
        return found

    def value(self, name, **labels):
        """The sum of the samples of that name with these labels; None where there is none."""
        found = [value for each, told, value in self.metrics() if each == name and labels.items() <= told.items()]
        return sum(found) if found else None

    def drain(self, seconds=40):
        """SIGTERM; it must end with 0."""
        code = self.terminate(seconds)
        if code != 0:
            raise CheckFailed(f"{self.name} ended with {code} after SIGTERM")
        return code

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

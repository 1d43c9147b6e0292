"""Processes under test: started with their output in files, watched, and ended by their own pid."""

import os
import signal
import subprocess

from harness.checking import CheckFailed, until

TAIL_LINES = 30
LINE_LENGTH = 500


class Process:
    """One child process. Its output goes to `<name>.out` and `<name>.err` in `directory`."""

    def __init__(self, name, command, directory, environment=None, stdin=None):
        self.name, self.command = name, [str(word) for word in command]
        self.out_path = os.path.join(directory, f"{name}.out")
        self.err_path = os.path.join(directory, f"{name}.err")
        with open(self.out_path, "ab") as out, open(self.err_path, "ab") as err:
            self.child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=out,
                stderr=err,
                cwd=directory,
                env={**os.environ, **(environment or {})},
                # A signal from a terminal must not reach it past the test.
                start_new_session=True,
            )

    @property
    def pid(self):
        return self.child.pid

    def is_running(self):
        return self.child.poll() is None

    def signal(self, number):
        self.child.send_signal(number)

    def stop(self):
        """Freezes it: it does nothing, and does not know."""
        self.signal(signal.SIGSTOP)

    def proceed(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9, and its end awaited."""
        if self.is_running():
            self.signal(signal.SIGKILL)
        return self.child.wait(30)

    def wait(self, seconds=30):
        """The exit code; a signal's number negative."""
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"{self.name} (pid {self.pid}) did not end within {seconds} s") from None

    def terminate(self, seconds=30):
        """SIGTERM, and the exit code."""
        if self.is_running():
            self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def finish(self):
        """Ends it whatever its state, for the clean-up."""
        if self.is_running():
            self.signal(signal.SIGCONT)
            self.kill()

    def output(self):
        return _read(self.out_path) + _read(self.err_path)

    def wait_for_output(self, text, seconds=30):
        """Waits until `text` is in what it wrote."""

        def look():
            if text in self.output():
                return True
            if not self.is_running():
                raise CheckFailed(f"{self.name} ended with {self.child.returncode} before it said {text!r}")
            return False

        until(f"{self.name} says {text!r}", look, seconds)

    def describe(self):
        code = self.child.poll()
        state = "running" if code is None else f"ended with {code}"
        lines = [f"-- {self.name} (pid {self.pid}, {state}): {' '.join(self.command)}"]
        for path in (self.out_path, self.err_path):
            told = _read(path).splitlines()[-TAIL_LINES:]
            if told:
                lines.append(f"   {path}:\n" + "\n".join(f"   | {line[:LINE_LENGTH]}" for line in told))
        return "\n".join(lines)


def _read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()

"""A PostgreSQL server of one test's own, on a socket in a folder that goes with it."""

import pathlib
import subprocess

from harness.checking import until
from harness.processes import Process

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "postgres-server"


class Postgres(Process):
    """Runs when it is made. It is told by a word a line, and ends when its input does."""

    PASSWORD = "hunter2-of-the-test"

    def __init__(self, world):
        super().__init__("postgres", [SCRIPT], world.directory, stdin=subprocess.PIPE)
        world.processes.append(self)
        self.said = 0
        (self.folder,) = self._answer()

    def _answer(self):
        def look():
            with open(self.out_path, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
            if len(lines) > self.said or not self.is_running():
                return lines
            return None

        lines = until("the PostgreSQL server answers", look, 60)
        new, self.said = lines[self.said :], len(lines)
        return new

    def _tell(self, word):
        self.child.stdin.write(f"{word}\n".encode())
        self.child.stdin.flush()
        return self._answer()

    def kill_server(self):
        """kill -9 of the server; all of it is gone afterwards."""
        self._tell("kill")

    def start_server(self):
        self._tell("start")

    @property
    def settings(self):
        """Of a service that keeps its store here."""
        text = f"postgresql://sendgate:{self.PASSWORD}@/postgres?host={self.folder}"
        return {"serve__database__file": "", "serve__database__postgres": text}

    def finish(self):
        if self.is_running():
            self.child.stdin.close()
            self.wait(30)

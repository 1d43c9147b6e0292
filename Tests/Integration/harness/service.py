"""`sendgate serve` as a process, and a client of its API."""

import http.client
import json
import os
import re
import ssl

from harness.brokers import free_port
from harness.checking import CheckFailed, expect_equal, until
from harness.processes import Process

ROLES = ("app", "support", "admin", "selftest")
PLENTY = 1_000_000
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def etag(self):
        return self.headers.get("ETag")

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Service(Process):
    """A running preference service with a token of each role. `settings` go by `--set`; `port`: of one before it."""

    def __init__(self, world, name="serve-0", tls=None, environment=None, port=None, **settings):
        self.world, self.port, self.tls = world, port or free_port(), tls
        self.database = os.path.join(world.directory, "preferences.db")
        self.tokens_path = os.path.join(world.directory, "tokens")
        self.tokens = getattr(world, "service_tokens", None)
        if self.tokens is None:
            self.tokens = world.service_tokens = {role: new_token(world, self.tokens_path, role) for role in ROLES}
        made = {
            "serve.address": f"127.0.0.1:{self.port}",
            "serve.database.file": self.database,
            "serve.tokens.file": self.tokens_path,
            "serve.android.package": "com.example.app",
            # Tests are many requests from one address.
            "serve.token.requests_per_second": PLENTY,
            "serve.token.burst_max": PLENTY,
            "serve.address.requests_per_second": PLENTY,
            "serve.address.burst_max": PLENTY,
        }
        made.update({key.replace("__", "."): value for key, value in settings.items()})
        self.settings = [word for key, value in made.items() for word in ("--set", f"{key}={value}")]
        command = [world.sendgate, "serve", "--config", world.config_path, *self.settings]
        super().__init__(name, command, world.directory, environment)
        world.processes.append(self)

    def connect(self, seconds=30):
        if self.tls is not None:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)

    def ask(self, method, path, body=None, role="admin", headers=(), connection=None, token=None):
        """One request; `body` is what JSON is made of, or bytes. Raises OSError where nobody answers."""
        own = connection or self.connect()
        sent = dict(headers)
        token = token or (self.tokens[role] if role else None)
        if token:
            sent.setdefault("Authorization", f"Bearer {token}")
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            own.request(method, path, body, sent)
            answer = own.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())
        finally:
            if connection is None:
                own.close()

    def must(self, method, path, body=None, role="app", status=200, **how):
        """The same, and its status."""
        answer = self.ask(method, path, body, role, **how)
        if answer.status != status:
            raise CheckFailed(f"{method} {path}: wanted {status}, got {answer}")
        return answer

    def await_ready(self, seconds=60):
        def look():
            if not self.is_running():
                raise CheckFailed(f"{self.name} ended with {self.child.returncode} before it was ready")
            try:
                return self.ask("GET", "/readyz", role=None).status == 200
            except OSError:
                return False

        until(f"{self.name} is ready", look, seconds, every=0.05)
        return self

    def metric(self, name, **labels):
        """The sum of the samples of that name with these labels."""
        total = 0.0
        for line in self.must("GET", "/metrics").body.splitlines():
            match = SAMPLE.match(line)
            if match and match.group(1) == name:
                found = dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match.group(2) or ""))
                if all(found.get(key) == value for key, value in labels.items()):
                    total += float(match.group(3))
        return total

    def end(self, seconds=40):
        """SIGTERM; it must end with 0."""
        expect_equal(self.terminate(seconds), 0, f"exit code of {self.name} after SIGTERM")

    # What a test says most often.

    def device(self, user, device, platform="android", os_permission="granted", **more):
        body = {"platform": platform, "os_permission": os_permission, **more}
        return self.must("PUT", f"/v1/users/{user}/devices/{device}", body)

    def choose(self, user, category, state, source="in_app_settings", **more):
        return self.must("PUT", f"/v1/users/{user}/choices/{category}", {"state": state, "source": source, **more})


def new_token(world, path, role, name=None):
    name = name or role
    made = world.command(f"token-{name}", "token", "new", "--role", role, "--name", name, "--file", path)
    expect_equal(made.child.returncode, 0, f"exit code of token new:\n{made.output()}")
    return made.output().strip()


def trust(certificate):
    """A client's side of TLS that knows this certificate alone."""
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    return context

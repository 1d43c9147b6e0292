"""A running `sendgate serve` with users on it, and signed links made by nothing but Python's own library."""

import base64
import hashlib
import hmac
import http.client
import json
import pathlib
import random
import socket
import subprocess
import time

PLENTY = 1_000_000
CATEGORIES = {None: 0, "transactional": 1, "security": 2, "social": 3, "marketing": 4}
PURPOSES = {"unsubscribe": 1, "settings": 2, "undo": 3}
BROKER = "127.0.0.1:1"  # nobody is there: what is changed waits to be published


class Service:
    """`more` are settings beside those of the preferences; `bootstrap` is a broker that is there."""

    def __init__(self, sendgate, folder, bootstrap=BROKER, more=None):
        self.folder = pathlib.Path(folder)
        keys, tokens = self.folder / "links.keys", self.folder / "tokens"
        run([sendgate, "link-key", "new", "--file", keys])

        def token(role):
            return run([sendgate, "token", "new", "--role", role, "--name", role, "--file", tokens]).strip()

        self.token, self.support, self.app = token("admin"), token("support"), token("app")
        line = next(line for line in keys.read_text().splitlines() if line.startswith("key "))
        self.key = int(line.split()[1]), bytes.fromhex(line.split()[3])
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        settings = {
            "kafka.bootstrap.servers": bootstrap,
            "serve.address": f"127.0.0.1:{self.port}",
            "serve.database.file": self.folder / "preferences.db",
            "serve.tokens.file": tokens,
            "serve.android.package": "com.example.app",
            "serve.address.requests_per_second": PLENTY,
            "serve.address.burst_max": PLENTY,
            "unsubscribe.base_url": self.base,
            "unsubscribe.keys_file": keys,
            **(more or {}),
        }
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.sendgate, self.words = sendgate, words
        self.log = open(self.folder / "serve.log", "wb")
        self.child = subprocess.Popen([sendgate, "serve", *words], stderr=self.log, stdout=self.log)
        self.users = 0
        deadline = time.monotonic() + 60
        while not self.is_up():
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("sendgate serve did not start:\n" + (self.folder / "serve.log").read_text())

    def command(self, name, *arguments):
        """What a command prints that looks into the same files."""
        return run([self.sendgate, name, *self.words, *arguments])

    def is_up(self):
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def end(self):
        self.child.terminate()
        code = self.child.wait(timeout=40)
        self.log.close()
        if code != 0:
            raise RuntimeError(f"sendgate serve ended with {code}")

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def api(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        status, _, text = self.ask(method, path, json.dumps(body) if body is not None else None, headers)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {text}")
        return json.loads(text)

    def user(self, *devices):
        """A user nobody else has, with these devices: (platform, permission)."""
        self.users += 1
        user = f"u-{self.users}"
        for number, (platform, permission) in enumerate(devices):
            body = {"platform": platform, "os_permission": permission, "region": "US"}
            self.api("PUT", f"/v1/users/{user}/devices/{user}-d{number}", body)
        return user

    def choice(self, user, category):
        account = self.api("GET", f"/v1/users/{user}/preferences")["account"]
        return account.get("categories", {}).get(category, {}).get("state", "default")

    def everything(self, user):
        """Stays the same as long as nothing is written."""
        return self.api("GET", f"/v1/users/{user}/preferences"), self.api("GET", f"/v1/users/{user}/audit")

    def sign(self, purpose, category, user, lives=600):
        def part(text):
            return bytes([len(text)]) + text.encode()

        number, secret = self.key
        expiry = (int(time.time()) + lives).to_bytes(5, "big")
        head = b"\x01" + number.to_bytes(2, "big") + bytes([PURPOSES[purpose], CATEGORIES[category]]) + expiry
        body = head + part(user) + part("n-1")
        tagged = body + hmac.new(secret, body, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(tagged).rstrip(b"=").decode()

    def unsubscribe_path(self, user, category="marketing", lives=600):
        return "/u/" + self.sign("unsubscribe", category, user, lives)

    def settings_path(self, user):
        return "/s/" + self.sign("settings", None, user)


class Broker:
    """A test broker with the topics on it."""

    def __init__(self, sendgate, folder):
        folder = pathlib.Path(folder)
        (folder / "broker").mkdir()
        command = [sendgate, "broker", "--port", "0", "--data", folder / "broker"]
        self.log = open(folder / "broker.log", "wb")
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.child.stdout.readline()
        if "listening on " not in line:
            raise RuntimeError(f"the broker did not start: {line!r} {(folder / 'broker.log').read_text()}")
        self.bootstrap = line.split("listening on ")[1].split()[0]
        settings = ["--set", f"kafka.bootstrap.servers={self.bootstrap}"]
        run([sendgate, "topics", "create", *settings, "--set", "topics.create.replication.factor=1"])

    def end(self):
        self.child.terminate()
        self.child.wait(timeout=20)
        self.child.stdout.close()
        self.log.close()


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def free_port():
    """Below those that the system gives to clients, such as the browser: one could be in use again by now."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue

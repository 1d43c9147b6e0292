"""The preference service's API from outside: who may come in, how, and what of it lasts."""

import os
import random
import ssl
import subprocess
import sys
import time

from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.service import Service, new_token, trust
from harness.world import Background

ANDROID_LINK = "APP_NOTIFICATION_SETTINGS"


@case()
def four_toggles_are_blocked_by_the_system(world):
    """Android with POST_NOTIFICATIONS denied: four toggles blocked, and each tap leads to the system's settings."""
    world.create_topics()
    service = Service(world).await_ready()
    service.device("u-1", "d-1", os_permission="denied", region="DE")
    service.choose("u-1", "marketing", "user-on")
    view = service.must("GET", "/v1/users/u-1/devices/d-1/settings").json
    expect_equal([toggle["state"] for toggle in view["toggles"]], ["blocked_at_os_level"] * 4, "the toggles")
    for toggle in view["toggles"]:
        expect_equal(toggle["tap"]["action"], "open_os_settings", f"a tap on {toggle['category']}")
        expect(ANDROID_LINK in toggle["tap"]["link"], "the link does not open the app's notification settings")
    service.device("u-1", "d-1", os_permission="granted", region="DE")
    view = service.must("GET", "/v1/users/u-1/devices/d-1/settings").json
    states = {toggle["category"]: toggle["state"] for toggle in view["toggles"]}
    expect_equal(
        states, {"transactional": "on", "security": "on", "social": "on", "marketing": "on"}, "granted again"
    )
    service.end()


@case()
def tls_or_loopback(world):
    """Nothing is listened on beyond this machine in the clear; with a certificate, TLS 1.2 and 1.3 and nothing older."""
    world.create_topics()
    for settings, word in (
        ({"serve__address": "0.0.0.0:0"}, "serve.tls.certificate.file"),
        ({"serve__tls__certificate__file": "/dev/null"}, "both, or neither"),
        ({"serve__address": "localhost:1"}, "numeric address"),
        ({"serve__threads": "257"}, "0 to 256"),
        ({"serve__android__package": "app"}, "com.example.app"),
    ):
        refused = Service(world, f"refused-{len(world.processes)}", **settings)
        expect_equal(refused.wait(), 78, f"exit code with {settings}:\n{refused.output()}")
        expect(word in refused.output(), f"{word!r} is not said of {settings}:\n{refused.output()}")

    key, certificate = os.path.join(world.directory, "key.pem"), os.path.join(world.directory, "certificate.pem")
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sendgate".split()
        + ["-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    files = {"serve__tls__certificate__file": certificate, "serve__tls__key__file": key}
    os.chmod(key, 0o644)
    open_key = Service(world, "open-key", **files)
    expect_equal(open_key.wait(), 78, "exit code with a key that everybody may read")
    os.chmod(key, 0o600)
    service = Service(world, "tls", tls=trust(certificate), **files).await_ready()
    service.choose("u-1", "social", "user-off")
    for version, is_good in ((ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_1, False)):
        context = trust(certificate)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.maximum_version = version
        service.tls = context
        try:
            works = service.ask("GET", "/healthz", role=None).status == 200
        except OSError:
            works = False
        expect_equal(works, is_good, f"{version.name}")
    service.tls = None
    try:
        plain = service.ask("GET", "/healthz", role=None).status
    except OSError:
        plain = None
    except Exception:  # what http.client makes of a TLS alert
        plain = None
    expect(plain != 200, "it answers in the clear")
    service.end()


@case()
def tokens_come_and_go(world):
    """A token counts, or no longer counts, a moment after the file says so; half an edit locks nobody out."""
    world.create_topics()
    service = Service(world).await_ready()
    path = "/v1/users/u-1/preferences"
    expect_equal(service.ask("GET", path, role=None).status, 401, "without a token")
    expect_equal(service.ask("GET", path, token="sgt_guess").status, 401, "with a guess")
    fresh = new_token(world, service.tokens_path, "support", "fresh")
    until("a new token counts", lambda: service.ask("GET", path, token=fresh).status == 404)
    with open(service.tokens_path, encoding="utf-8") as file:
        whole = file.read()
    expect(fresh not in whole, "the file holds a token in the clear")
    with open(service.tokens_path, "w", encoding="utf-8") as file:
        file.write(whole[: len(whole) // 2])
    service.wait_for_output("The tokens file cannot be read again")
    expect_equal(service.ask("GET", path, token=fresh).status, 404, "during half an edit")
    with open(service.tokens_path, "w", encoding="utf-8") as file:
        file.writelines(line for line in whole.splitlines(True) if not line.startswith("fresh "))
    until("a token that was taken away counts no more", lambda: service.ask("GET", path, token=fresh).status == 401)
    expect_equal(service.ask("GET", path).status, 404, "the others count on")
    service.end()


@case()
def rates_are_kept(world):
    """Too many requests of one token are told so, with when to come again; the others are not delayed."""
    world.create_topics()
    service = Service(world, serve__token__requests_per_second=5, serve__token__burst_max=10).await_ready()
    connection = service.connect()
    began = time.monotonic()
    answers = [service.ask("GET", "/v1/defaults", role="app", connection=connection) for _ in range(200)]
    most = 10 + 5 * (time.monotonic() - began) + 1
    expect_equal([answer.status for answer in answers[:10]], [200] * 10, "within the burst")
    expect_equal({answer.status for answer in answers}, {200, 429}, "the answers")
    refused = [answer for answer in answers if answer.status == 429]
    expect(len(answers) - len(refused) <= most, f"{len(refused)} of {len(answers)} were refused, {most:.0f} may pass")
    expect_equal({answer.headers["Retry-After"] for answer in refused}, {"1"}, "Retry-After")
    expect_equal(service.ask("GET", "/v1/defaults", role="support").status, 200, "another token")
    connection.close()
    service.end()


@case()
def what_was_answered_lasts(world):
    """Writers on many connections, SIGTERM in the middle, start again: every change that was answered is there."""
    world.create_topics()
    service = Service(world).await_ready()
    answered = {}

    def write(number):
        def run(stopping):
            connection, count = service.connect(), 0
            while not stopping.is_set():
                count += 1
                body = {"state": "user-on", "source": "in_app_settings", "event_id": f"e-{number}-{count}"}
                try:
                    answer = service.ask(
                        "PUT", f"/v1/users/w-{number}/choices/social", body, "app", connection=connection
                    )
                except Exception:  # the service has ended
                    return
                if answer.status == 200:
                    answered[number] = count
                elif answer.status == 503:
                    return

        return run

    writers = [Background(write(number)) for number in range(16)]
    until("every writer was answered a few times", lambda: all(answered.get(n, 0) > 5 for n in range(16)), 60)
    service.end()
    for writer in writers:
        writer.stop()
    again = Service(world, "serve-1").await_ready()
    for number, count in answered.items():
        rows, after = [], 0
        while after is not None:
            page = again.must("GET", f"/v1/users/w-{number}/audit?limit=1000&after={after}", role="support").json
            rows, after = rows + page["rows"], page["next"]
        events = {row["event_id"] for row in rows}
        missing = [n for n in range(1, count + 1) if f"e-{number}-{n}" not in events]
        expect_equal(missing, [], f"answered events of w-{number} that are not on record")
    again.end()


@case()
def the_api_keeps_its_contract(world):
    """schemathesis against the service's own OpenAPI: no server error, no answer that is not documented."""
    world.create_topics()
    service = Service(world).await_ready()
    # What the examples of the contract name.
    service.device("u-1", "d-1")
    service.choose("u-1", "marketing", "user-on")
    seed = str(world.random.randrange(10**6))
    tool = os.path.join(os.path.dirname(sys.executable), "schemathesis")
    for role, examples in (("admin", "40"), ("app", "15")):
        done = subprocess.run(
            [tool, "run", f"http://127.0.0.1:{service.port}/v1/openapi.yaml", "--seed", seed]
            + ["--header", f"Authorization: Bearer {service.tokens[role]}", "--max-examples", examples]
            # What a schema cannot say (a zone that exists, a version that is current) is refused with 4xx.
            + ["--exclude-checks", "positive_data_acceptance", "--continue-on-failure", "--workers", "1"]
            + ["--phases", "examples,coverage,fuzzing"],
            cwd=world.directory,
            capture_output=True,
            text=True,
            timeout=500,
        )
        told = done.stdout[-6000:] + done.stderr[-1000:]
        expect_equal(done.returncode, 0, f"schemathesis as {role}, seed {seed}:\n{told}")
        expect("generated" in told, f"schemathesis said nothing of cases:\n{told}")
    expect_equal(service.metric("sendgate_http_requests_total", status="5xx"), 0, "answers of 5xx")
    service.end()


@case()
def ids_of_every_kind_come_back(world):
    """Ids with slashes, blanks, signs and other scripts go through path, store and document as they are."""
    world.create_topics()
    service = Service(world).await_ready()
    ids = ["a/b", "a b", "a+b", "%41", "..", "ünï", "水", "a?b#c", "é", "e\u0301", "x" * 128, "🦊" * 32]
    quoted = {each: "".join(f"%{byte:02X}" for byte in each.encode()) for each in ids}
    order = ids[:]
    random.Random(7).shuffle(order)
    for each in order:
        service.choose(quoted[each], "social", "user-off")
    for each in ids:
        document = service.must("GET", f"/v1/users/{quoted[each]}/preferences").json
        expect_equal((document["user_id"], document["version"]), (each, 1), "the document")
    service.end()

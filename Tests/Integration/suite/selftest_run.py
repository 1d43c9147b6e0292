"""`sendgate selftest` against a running system: everything agrees, and where it does not, what is named."""

import contextlib
import http.server
import itertools
import json
import os
import subprocess
import threading
import time
import urllib.parse

from harness.brokers import INJECTS, free_port
from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.records import encode
from harness.service import Service, trust
from harness.world import Background

AGREES, DISAGREES, NOT_RUN = 0, 81, 82
ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
STATES = {"active": ("approved", "ok"), "expired": ("dropped", "token_expired"), "denied": ("dropped", "os_permission_denied")}
STATE_TOPICS = {"active": "selftest", "expired": "dropped", "denied": "dropped"}


class System:
    """A gate and a preference service with an index, as one installs them."""

    def __init__(self, world, index=True, policy=None, **service):
        self.world = world
        world.create_topics()
        more = {"evidence__database": os.path.join(world.directory, "evidence.db")} if index else {}
        self.service = Service(world, instance__id="serve", **more, **service).await_ready()
        self.gate = world.gate(**({"policy__file": policy} if policy else {}))
        self.gate.await_ready()
        self.token_path = os.path.join(world.directory, "selftest.token")
        self.keep_token(self.service.tokens["selftest"])
        self.names = itertools.count(1)

    def keep_token(self, token):
        with open(os.open(self.token_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(token + "\n")

    def selftest(self, seconds=10, url=None, config=(), more=()):
        """(exit code, report) of a run."""
        words = ["selftest", "--json", "--config", self.world.config_path, "--token-file", self.token_path]
        words += ["--url", url or f"http://127.0.0.1:{self.service.port}", "--step-timeout-seconds", str(seconds)]
        words += [word for pair in config for word in ("--set", pair)] + list(more)
        done = self.world.command(f"selftest-{next(self.names)}", *words, seconds=120)
        with open(done.out_path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        expect_equal(len(lines), 1, f"lines of the report:\n{done.output()}")
        return done.child.returncode, json.loads(lines[0])

    def must_agree(self):
        code, report = self.selftest()
        expect_equal((code, report["disagreements"]), (AGREES, []), "exit code and disagreements")
        expect_equal(report["passed"], True, "passed")
        return report

    def must_disagree(self, *wanted, **how):
        """Every one of `wanted` (state, what) is named; returns all that were, by those."""
        code, report = self.selftest(**how)
        expect_equal((code, report["passed"]), (DISAGREES, False), f"exit code of {report}")
        named = {(each.get("state"), each["what"]): each for each in report["disagreements"]}
        for each in wanted:
            expect(each in named, f"{each} is not named; what is: {json.dumps(report['disagreements'], indent=1)}")
        return named

    def kept(self):
        """The newest run on record."""
        state = self.service.must("GET", "/v1/evidence/state", role="support").json
        return state["newest_self_test"]

    def pages(self, *paths):
        """The console's pages at `paths`, as support reads them."""
        form = urllib.parse.urlencode({"token": self.service.tokens["support"], "next": ""}).encode()
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        signed = self.service.must("POST", "/console/login", form, role=None, status=303, headers=sent)
        cookie = {"Cookie": signed.headers["Set-Cookie"].split(";")[0]}
        return [self.service.must("GET", path, role=None, headers=cookie).body for path in paths]

    def end(self):
        self.gate.drain()
        self.service.end()


@case()
def everything_agrees(world):
    """Three states through the running system, twice: approved on the self-test's topic and nowhere else, two drops, a kept report."""
    system = System(world)
    ids = {}
    for turn in range(2):
        report = system.must_agree()
        for state, (outcome, reason) in STATES.items():
            told = report["states"][state]
            expect_equal((told["found"]["outcome"], told["found"]["reason"]), (outcome, reason), f"{state}, turn {turn}")
            expect_equal(told["agrees"], True, f"{state} agrees")
            ids[told["notification_id"]] = (STATE_TOPICS[state], reason)
        versions = report["versions"]
        for name in ("gate", "policy", "policy_of_gate", "policy_of_service", "tzdb", "selftest"):
            expect(versions.get(name), f"no version of {name} in {versions}")
        kept = system.kept()
        expect_equal((kept["outcome"], kept["report"]), ("passed", report), "what is kept of the run")
    page = system.pages("/console/selftest")[0]
    for shown in ("Everything agrees", "token_expired", "os_permission_denied", "sendgate-selftest.active"):
        expect(shown in page, f"the console does not show {shown}: {page}")
    reader = world.reader(("approved", "deferred", "dropped", "selftest"))
    # What a gate decides before it has followed is asked again under another id: there may be more records than answers.
    records = [(output.record["notification_id"], (output.topic, output.record["reason"])) for output in reader.to_end()]
    expect_equal({topic for _, (topic, _) in records}, set(STATE_TOPICS.values()), "topics with a record")
    told = sorted(record for record in records if record[0] in ids)
    expect_equal(told, sorted(ids.items()), "the records of both runs that the reports speak of")
    system.end()


@case(INJECTS)
def a_stale_gate_table_is_named(world):
    """The gate cannot follow preferences.state: the version that it decided by, and the one that it should have."""
    system = System(world)
    system.must_agree()
    client = f"{world.group}.gate-0"
    world.broker.inject(f"Fetch client={client} topic={world.topics['preferences.state']} error 6\n")
    try:
        named = system.must_disagree(("active", "decision.preference_version"), seconds=4)
    finally:
        world.broker.inject("")
    told = named[("active", "decision.preference_version")]
    expect(int(told["expected"]) > int(told["found"].split(",")[0]), f"the versions: {told}")
    until("the gate has followed, and everything agrees again", lambda: system.selftest()[0] == AGREES, 60)
    kept = system.kept()
    expect_equal(kept["outcome"], "passed", "the newest run")
    system.end()


@case(INJECTS)
def a_stopped_index_is_named(world):
    """The index reads nothing any more: the record that it does not have, and since when it is behind."""
    system = System(world)
    system.must_agree()
    names = ("selftest", "dropped", "approved", "deferred")
    rules = [f"Fetch client={world.group}.serve* topic={world.topics[name]} error 6\n" for name in names]
    world.broker.inject("".join(rules))
    try:
        named = system.must_disagree(("active", "attempt"), ("expired", "attempt"), ("denied", "attempt"), seconds=4)
    finally:
        world.broker.inject("")
    expect_equal({what for _, what in named}, {"attempt"}, "what is named")
    expect("up to date at" in named[("active", "attempt")]["found"], f"since when: {named[('active', 'attempt')]}")
    until("the index has caught up, and everything agrees again", lambda: system.selftest()[0] == AGREES, 60)
    system.end()


@case()
def no_index_is_named(world):
    """A service without an index: that there is none, and that the run could not be kept."""
    system = System(world, index=False)
    named = system.must_disagree(("active", "attempt"), (None, "evidence"), seconds=3)
    expect_equal({what for _, what in named}, {"attempt", "evidence"}, "what is named")
    expect("no index is kept" in named[("denied", "attempt")]["found"], "that there is none")
    system.end()


@case()
def a_wrong_policy_is_named(world):
    """A gate with another policy than the service and the self-test: both versions, and no other disagreement."""
    with open(os.path.join(ROOT, "deploy", "policy.json"), encoding="utf-8") as file:
        policy = json.load(file)
    own = policy["version"]
    policy["version"] = "another"
    path = os.path.join(world.directory, "policy.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy, file)
    system = System(world, policy=path)
    named = system.must_disagree(*((state, "decision.policy_version") for state in STATES))
    told = named[("active", "decision.policy_version")]
    expect_equal((told["expected"], told["found"]), (own, "another"), "the versions")
    expect_equal({what for _, what in named}, {"decision.policy_version"}, "what is named")
    page = system.pages("/console/selftest")[0]
    for shown in ("decision.policy_version", own, "another"):
        expect(shown in page, f"the console does not show {shown}: {page}")
    # The same where it is the service that has the other one: then what it would decide says so.
    code, report = system.selftest(config=[f"policy.file={path}"])
    expect_equal(code, DISAGREES, "exit code")
    expect_equal({each["what"] for each in report["disagreements"]}, {"now.policy_version"}, "what is named")
    system.end()


@case()
def a_swapped_token_status_is_named(world):
    """Somebody swaps active and expired on preferences.state: what the topic says, what the gate decided, and by what."""
    system = System(world)
    swapped = {"active": "expired", "expired": "active"}
    reader = world.reader(["preferences.state"])
    users = {f"sendgate-selftest.{state}": state for state in ("active", "expired")}

    def swap(stopping):
        done = 0
        producer = world.new_producer()
        written = set()
        while not stopping.is_set():
            reader.step(0.02)
            for output in reader.read[done:]:
                done += 1
                state = users.get((output.key or b"").decode())
                if state is None or output.value in written:
                    continue
                made = json.loads(output.value)
                # The first document of a user has no device yet.
                if [each["token_status"] for each in made["devices"]] != [state]:
                    continue
                made["devices"][0]["token_status"] = swapped[state]
                value = encode(made)
                written.add(value)
                world.write("preferences.state", output.key, value, producer=producer)
                producer.flush(10)

    swapper = Background(swap)
    # The gate may decide before the swap has reached it; then only the topic says so.
    try:
        named = until(
            "the gate has decided by a swapped document",
            lambda: _named_if(system, ("active", "decision.device_token_status")),
            120,
        )
    finally:
        swapper.stop()
    for wanted in (
        ("active", "published.token_status"),
        ("expired", "published.token_status"),
        ("active", "decision.reason"),
    ):
        expect(wanted in named, f"{wanted} is not named; what is: {sorted(named, key=str)}")
    told = named[("active", "decision.device_token_status")]
    expect_equal((told["expected"], told["found"]), ("active", "expired"), "the token's status")
    told = named[("active", "decision.reason")]
    expect_equal((told["expected"], told["found"]), ("ok", "token_expired"), "the reason")
    reader.to_end()
    system.end()


def _named_if(system, wanted):
    named = system.must_disagree(("active", "published.token_status"))
    return named if wanted in named else None


@case()
def what_cannot_be_run_says_so(world):
    """No service, a token that is not known, of another role, no broker: exit code 82, and no verdict."""
    system = System(world, index=False)
    good = system.service.tokens["selftest"]
    for name, wanted, how in (
        ("no service", "did not answer", {"url": f"http://127.0.0.1:{free_port()}"}),
        ("no broker", "", {"config": ["kafka.bootstrap.servers=127.0.0.1:1"]}),
    ):
        code, report = system.selftest(seconds=2, **how)
        expect_equal((code, report["passed"]), (NOT_RUN, None), name)
        expect(wanted in report["not_run"], f"{name}: {report}")
    for token, status in (("sgt_unknown", 401), (system.service.tokens["app"], 403)):
        system.keep_token(token)
        code, report = system.selftest(seconds=2)
        expect_equal((code, report["passed"]), (NOT_RUN, None), f"a token that is answered with {status}")
        expect(f" {status}: " in report["not_run"], f"{status}: {report}")
    system.keep_token(good)
    system.gate.drain()
    # Nobody decides: that is no failure to run but what it is there to find.
    named = system.must_disagree(("active", "decision"), ("denied", "decision"), seconds=2)
    expect_equal({what for _, what in named}, {"decision", "evidence"}, "what is named without a gate")
    os.chmod(system.token_path, 0o644)
    refused = world.command(
        "refused", "selftest", "--config", world.config_path, "--token-file", system.token_path
    )
    expect_equal(refused.child.returncode, 78, "exit code where others may read the token")
    system.service.end()


@case()
def two_at_once_are_no_failure(world):
    """Runs at the same time share the users: each agrees, or could not be run; none says that something is wrong."""
    system = System(world)
    system.must_agree()
    codes = []
    for _ in range(4):
        runs = [threading.Thread(target=lambda: codes.append(system.selftest())) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
    expect_equal(len(codes), 12, "runs that ended")
    for code, report in codes:
        expect(code in (AGREES, NOT_RUN), f"exit code {code} of {report}")
        expect(code == AGREES or "changed by somebody else" in report["not_run"], f"why: {report}")
    expect_equal(system.kept()["outcome"], "passed", "the newest run")
    system.end()


@case()
def another_hand_is_no_failure(world):
    """Somebody changes one of the users all the while: the run says whose, and gives no verdict."""
    system = System(world)
    path = "/v1/users/sendgate-selftest.active/devices/sendgate-selftest.active-device"
    seen = {"platform": "ios", "os_permission": "denied", "token_status": "expired"}

    def change(stopping):
        while not stopping.wait(0.01):
            system.service.must("PUT", path, seen, role="selftest")

    changer = Background(change)
    try:
        code, report = system.selftest(seconds=4)
    finally:
        changer.stop()
    expect_equal((code, report["passed"]), (NOT_RUN, None), f"{report}")
    expect("sendgate-selftest.active was changed by somebody else" in report["not_run"], f"why: {report}")
    system.must_agree()
    system.end()


@contextlib.contextmanager
def slow_service(answer):
    """The address of a service that leaves every answer to `answer(handler)`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with contextlib.suppress(OSError):
                answer(self)

        do_GET = do_PUT

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _late(handler):
    body = b'{"version":1}'
    time.sleep(0.7)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _byte_by_byte(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.1)


@case()
def a_slow_service_cannot_hold_a_step(world):
    """Each answer in time, all of them too late for their step; and one that never ends: the step is named, and it is over."""
    system = System(world, index=False)
    for answer in (_late, _byte_by_byte):
        with slow_service(answer) as url:
            began = time.monotonic()
            code, report = system.selftest(seconds=2, url=url)
            seconds = time.monotonic() - began
        expect_equal((code, report["passed"]), (NOT_RUN, None), f"{answer.__name__}: {report}")
        expect("the step preferences was not over in its 2 s" in report["not_run"], f"why: {report}")
        expect(seconds < 8, f"it took {seconds:.1f} s")
    system.end()


@case()
def over_tls_by_its_certificate(world):
    """https by the authority that is named; refused where the system knows none, and where the name is another one."""
    key, certificate = os.path.join(world.directory, "key.pem"), os.path.join(world.directory, "certificate.pem")
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sendgate".split()
        + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    os.chmod(key, 0o600)
    files = {"serve__tls__certificate__file": certificate, "serve__tls__key__file": key}
    system = System(world, tls=trust(certificate), **files)
    url = f"https://127.0.0.1:{system.service.port}"
    code, report = system.selftest(url=url, more=["--ca-file", certificate])
    expect_equal((code, report["disagreements"]), (AGREES, []), "exit code and disagreements")
    for refused, more in ((url, []), (url.replace("127.0.0.1", "localhost"), ["--ca-file", certificate])):
        code, report = system.selftest(seconds=5, url=refused, more=more)
        expect_equal(code, NOT_RUN, f"exit code with {refused} {more}")
        expect("the certificate is refused" in report["not_run"], f"why: {report}")
    system.end()

#!/usr/bin/env python3
"""Checks the contracts under deploy/: the schemas, the AsyncAPI document, the policy, and records against them.

    check.py [SENDGATE [ARG ...]]      (needs requirements.txt)

Records come from fixtures.json, from the golden decisions and from random cases, decided by SENDGATE where one is
named, else by the oracle. With SENDGATE it must also refuse each policy of refusals.json, naming the key.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONTRACTS = ROOT / "deploy/contracts"
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "cases")]
import compose  # noqa: E402
import fuzz  # noqa: E402
import openapi  # noqa: E402
import run_cases  # noqa: E402

RANDOM_SEED, RANDOM_GROUPS = 20260309, 4
# Topic -> cleanup policy; the first group shares one partition count.
CO_PARTITIONED = {
    "notifications.candidate": "delete",
    "notifications.approved": "delete",
    "notifications.deferred": "compact",
    "notifications.dropped": "delete",
    "notifications.receipts": "delete",
    "notifications.state": "compact",
    "preferences.state": "compact",
}
OTHERS = {
    "notifications.candidate.security": "delete",
    "notifications.state.security": "compact",
    "preferences.defaults": "compact",
    "preferences.events": "delete",
    "preferences.audit": "delete",
}
RECORD_OF_CHANNEL = {
    "notifications.candidate": "candidate",
    "notifications.candidate.security": "candidate",
    "notifications.approved": "approved",
    "notifications.deferred": "deferred",
    "notifications.dropped": "dropped",
    "notifications.receipts": "receipt",
    "notifications.state": "state",
    "notifications.state.security": "state",
    "preferences.state": "preference",
    "preferences.defaults": "default",
    "preferences.events": "preference-event",
    "preferences.audit": "preference-audit",
}


class Contracts:
    """The schemas by record name, and what was found wrong."""

    def __init__(self):
        self.failures, self.checked = [], 0
        self.schemas = {
            p.name.removesuffix(".schema.json"): json.loads(p.read_text()) for p in CONTRACTS.glob("*.schema.json")
        }
        registry = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in self.schemas.values())
        self.validators = {n: Draft202012Validator(s, registry=registry) for n, s in self.schemas.items()}

    def expect(self, condition, words):
        self.checked += 1
        if not condition:
            self.failures.append(words)

    def problem(self, record, value):
        """Why a value does not satisfy a record's schema; None where it does."""
        errors = sorted(self.validators[record].iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))
        return f"{'.'.join(map(str, errors[0].absolute_path))}: {errors[0].message}" if errors else None

    def good(self, record, value, where):
        problem = self.problem(record, value)
        self.expect(problem is None, f"{where}: {record}: {problem}: {json.dumps(value)[:300]}")

    def bad(self, record, value, where):
        self.expect(
            self.problem(record, value) is not None, f"{where}: {record} lets through {json.dumps(value)[:300]}"
        )

    def described(self, record):
        """The top-level members that a record's schema and what it refers to name."""
        schema = self.schemas[record]
        names = set(schema.get("properties", ()))
        base = schema.get("$ref")
        return names | (self.described(base.removesuffix(".schema.json")) if base else set())

    def output(self, value, where):
        """One decision: against its outcome's schema, and no member that no schema describes."""
        outcome = value.get("outcome")
        self.expect(outcome in ("approved", "deferred", "dropped"), f"{where}: outcome {outcome!r}")
        if outcome in self.validators:
            self.good(outcome, value, where)
            unknown = set(value) - self.described(outcome)
            self.expect(not unknown, f"{where}: no schema describes {sorted(unknown)}")


def check_schemas(contracts):
    for name, schema in contracts.schemas.items():
        Draft202012Validator.check_schema(schema)
        contracts.expect(schema["$id"].endswith(f"/{name}.schema.json"), f"{name}: its $id names another file")
        for reference in references(schema):
            file, _, pointer = reference.partition("#")
            target = contracts.schemas.get(file.removesuffix(".schema.json")) if file else schema
            for step in pointer.split("/")[1:]:
                target = target.get(step) if isinstance(target, dict) else None
            contracts.expect(target is not None, f"{name}: nothing at {reference}")


def references(value):
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k == "$ref" and isinstance(v, str))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


def check_fixtures(contracts):
    fixtures = json.loads((HERE / "fixtures.json").read_text())
    stateful = fixtures.pop("superseded, frequency_capped and released")
    for record, values in fixtures.items():
        for value in values["good"]:
            contracts.good(record, value, "fixtures.json")
        for value in values["bad"]:
            contracts.bad(record, value, "fixtures.json")
    # What needs state: made from a record of the oracle's, and wrong without its own members.
    drop = next(
        r for case in golden() for r in outputs_of(case, oracle_command()) if r["reason"] == "account_opted_out"
    )
    for reason, members in stateful.items():
        record = drop | {"reason": reason, "blocked_by": [reason]}
        contracts.output(record | members, f"fixtures.json: {reason}")
        contracts.bad("dropped", record, f"fixtures.json: {reason}")


def check_policy(contracts, command):
    policy = json.loads((ROOT / "deploy/policy.json").read_text())
    contracts.good("policy", policy, "deploy/policy.json")
    for refusal in json.loads((HERE / "refusals.json").read_text()):
        spoilt = copy.deepcopy(policy)
        *path, last = refusal["at"]
        at = spoilt
        for step in path:
            at = at[step]
        if refusal.get("remove"):
            del at[last]
        else:
            at[last] = refusal["value"]
        if not refusal.get("beyond_schema"):
            contracts.bad("policy", spoilt, refusal["why"])
        if command:
            check_refused(contracts, spoilt, refusal, command)


def check_refused(contracts, policy, refusal, command):
    key = refusal.get("key") or next(step for step in reversed(refusal["at"]) if isinstance(step, str))
    with tempfile.TemporaryDirectory() as folder:
        files = {name: pathlib.Path(folder, name) for name in ("policy", "preferences")}
        files["policy"].write_text(json.dumps(policy))
        files["preferences"].write_text("")
        arguments = [
            "--policy",
            files["policy"],
            "--preferences",
            files["preferences"],
            "--now",
            "2026-03-09T12:00:00Z",
        ]
        done = subprocess.run([*command, "evaluate", *arguments], input=b"", capture_output=True, timeout=60)
    words = done.stderr.decode(errors="replace")
    contracts.expect(done.returncode == 78, f"{refusal['why']}: exit {done.returncode} in place of 78 (configuration)")
    contracts.expect(key in words, f"{refusal['why']}: the message does not name {key}: {words[:300]!r}")


def golden():
    return [json.loads(line) for line in run_cases.CASES.read_text().splitlines() if line.strip()]


def oracle_command():
    return [sys.executable, str(HERE.parent / "oracle/oracle.py")]


def outputs_of(case, command):
    return run_cases.evaluate(case, command)


def check_golden(contracts, command):
    for case in golden():
        where = case["id"]
        records = outputs_of(case, command)
        for record in records:
            contracts.output(record, where)
        reason = records[0]["reason"]
        if "candidate" in case:
            refused = reason == "unknown_category"
            (contracts.bad if refused else contracts.good)("candidate", case["candidate"], where)
        if case["preferences"] is not None:
            unreadable = any(
                r["evidence"]["quiet_hours"] and r["evidence"]["quiet_hours"].get("invalid") for r in records
            )
            (contracts.bad if unreadable else contracts.good)("preference", case["preferences"], where)


def check_random(contracts, command):
    for number in range(RANDOM_GROUPS):
        group = fuzz.Group(RANDOM_SEED, number, fuzz.GROUP_CASES)
        problem, lines = group.evaluate(command, [line for line, _ in group.cases])
        contracts.expect(problem is None, f"random group {number}: {problem}")
        for line in lines or ():
            contracts.output(json.loads(line, parse_int=lambda text: int(text[:19])), f"random group {number}")


def check_asyncapi(contracts):
    document = yaml.safe_load((CONTRACTS / "asyncapi.yaml").read_text())
    channels = {channel["address"]: channel for channel in document["channels"].values()}
    topics = CO_PARTITIONED | OTHERS
    contracts.expect(
        set(channels) == set(topics), f"asyncapi.yaml: topics differ: {sorted(set(channels) ^ set(topics))}"
    )
    counts = {}
    for address, channel in channels.items():
        kafka = channel["bindings"]["kafka"]
        contracts.expect(kafka["topic"] == address, f"{address}: its binding names another topic")
        cleanup = kafka["topicConfiguration"]["cleanup.policy"]
        contracts.expect(cleanup == [topics.get(address)], f"{address}: cleanup policy {cleanup}")
        counts[address] = kafka["partitions"]
        files = [f for name in channel.get("messages", ()) for f in payload_files(document, channel["messages"][name])]
        wanted = RECORD_OF_CHANNEL.get(address)
        contracts.expect(files == ([f"./{wanted}.schema.json"] if wanted else []), f"{address}: carries {files}")
    contracts.expect(len({counts[t] for t in CO_PARTITIONED}) == 1, f"partition counts differ: {counts}")
    same = counts["notifications.state.security"] == counts["notifications.candidate.security"]
    contracts.expect(same, "the security lane's state has another partition count than its candidates")
    contracts.expect(
        channels["preferences.audit"]["bindings"]["kafka"]["topicConfiguration"]["retention.ms"] == -1, "audit ends"
    )
    for reference in references(document):
        contracts.expect(resolves(document, reference), f"asyncapi.yaml: nothing at {reference}")
    headers = document["components"]["schemas"]["decisionHeaders"]["properties"]
    described = contracts.described("decision") | {"traceparent"}
    contracts.expect(set(headers) <= described, f"asyncapi.yaml: headers that no record holds: {sorted(headers)}")


def payload_files(document, message):
    payload = follow(document, message["$ref"])["payload"]
    return [payload["schema"]["$ref"]] if "schema" in payload else []


def follow(document, reference):
    for step in reference.removeprefix("#/").split("/"):
        document = document[step]
    return document


def resolves(document, reference):
    if not reference.startswith("#"):
        return (CONTRACTS / reference).is_file()
    try:
        return follow(document, reference) is not None
    except KeyError:
        return False


def check_reasons(contracts):
    """The registry has every code that records may carry and no other; docs/reasons.md says the same, word by word."""
    registry = json.loads((CONTRACTS / "reasons.json").read_text())
    contracts.good("reasons", registry, "reasons.json")
    outcomes = {
        "dropped": set(contracts.schemas["decision"]["$defs"]["dropping_reason"]["enum"]),
        "approved": set(contracts.schemas["approved"]["properties"]["reason"]["enum"]),
        "deferred": {contracts.schemas["deferred"]["properties"]["reason"]["const"]},
    }
    codes = [entry["code"] for entry in registry["reasons"]]
    contracts.expect(len(codes) == len(set(codes)), "reasons.json: a code twice")
    for outcome, wanted in outcomes.items():
        found = {entry["code"] for entry in registry["reasons"] if entry["outcome"] == outcome}
        contracts.expect(found == wanted, f"reasons.json: {outcome}: {sorted(found ^ wanted)}")
    actors = {actor["code"]: actor["words"]["en"] for actor in registry["actors"]}
    links = {link["code"] for link in registry["links"]}
    rows = []
    for entry in registry["reasons"]:
        contracts.expect(set(entry["who"]) <= set(actors), f"reasons.json: {entry['code']}: who is {entry['who']}")
        contracts.expect(entry["link"] is None or entry["link"] in links, f"reasons.json: {entry['code']}: its link")
        who = "; ".join(actors.get(actor, actor) for actor in entry["who"])
        rows.append(f"| `{entry['code']}` | {entry['words']['en']} | {who} | {entry['remedy']['en']} |")
    explained = [line for line in (ROOT / "docs/reasons.md").read_text().splitlines() if line.startswith("| `")]
    contracts.expect(explained == rows, f"docs/reasons.md is not reasons.json's: {sorted(set(explained) ^ set(rows))}")


def main():
    contracts, command = Contracts(), sys.argv[1:]
    check_schemas(contracts)
    check_fixtures(contracts)
    check_policy(contracts, command)
    check_golden(contracts, command or oracle_command())
    check_random(contracts, command or oracle_command())
    check_asyncapi(contracts)
    openapi.check(contracts, ROOT)
    check_reasons(contracts)
    compose.check(contracts, ROOT, CO_PARTITIONED | OTHERS, command)
    for words in contracts.failures[:40]:
        print(words)
    print(f"{contracts.checked - len(contracts.failures)} passed, {len(contracts.failures)} failed")
    sys.exit(bool(contracts.failures))


if __name__ == "__main__":
    main()

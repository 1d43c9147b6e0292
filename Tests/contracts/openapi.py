"""The HTTP contract: whole in itself, and at one with the contracts of what goes over Kafka."""

import json
import re

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

METHODS = ("get", "put", "post", "delete", "patch")
PROBLEM = "application/problem+json"


def check(contracts, root):
    document = yaml.safe_load((root / "deploy/contracts/openapi.yaml").read_text())
    page = (root / "docs/preferences-api.md").read_text()
    contracts.expect(document["openapi"] == "3.1.0", "openapi.yaml: another version of OpenAPI")
    for reference in references(document):
        contracts.expect(follow(document, reference) is not None, f"openapi.yaml: nothing at {reference}")
    used = set(references(document)) | set(mapping(document))
    for section, members in document["components"].items():
        for name in members if section != "securitySchemes" else ():
            contracts.expect(f"#/components/{section}/{name}" in used, f"openapi.yaml: {section} {name} is not used")
    check_operations(contracts, document)
    check_vocabulary(contracts, document)
    check_events(contracts, document, root)
    for status in {s for o in operations(document).values() for s in o["responses"]} - {"200", "204", "304"}:
        contracts.expect(re.search(rf"^\|[ 0-9,]*\b{status}\b", page, re.M), f"preferences-api.md: nothing of {status}")


def operations(document):
    return {
        f"{method.upper()} {path}": {**item[method], "path_parameters": item.get("parameters", [])}
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    }


def check_operations(contracts, document):
    found = operations(document)
    ids = [operation["operationId"] for operation in found.values()]
    contracts.expect(len(ids) == len(set(ids)), "openapi.yaml: an operationId twice")
    for name, operation in found.items():
        statuses = set(operation["responses"])
        is_open = operation.get("security") == []
        contracts.expect(is_open != ("x-roles" in operation), f"{name}: neither open nor with roles, or both")
        wanted = {"400", "429"} | (set() if is_open else {"401", "403"})
        if "requestBody" in operation:
            wanted |= {"411", "413", "415"}
        contracts.expect(wanted <= statuses, f"{name}: {sorted(wanted - statuses)} are not told")
        named = {p["name"] for p in map(lambda p: resolve(document, p), operation["path_parameters"]) if p["in"] == "path"}
        contracts.expect(named == set(re.findall(r"{(\w+)}", name)), f"{name}: parameters of the path {named}")
        for status, answer in operation["responses"].items():
            content = resolve(document, answer).get("content", {})
            if status[0] in "45" and not name.endswith("z"):
                contracts.expect(list(content) == [PROBLEM], f"{name}: {status} is {list(content)}")


def check_vocabulary(contracts, document):
    """The same words as on Kafka."""
    common = contracts.schemas["common"]["$defs"]
    audit = contracts.schemas["preference-audit"]["properties"]
    event = contracts.schemas["preference-event"]["properties"]
    schemas = document["components"]["schemas"]
    row = schemas["AuditRow"]["properties"]
    for name, here, there in (
        ("Category", schemas["Category"]["enum"], common["category"]["enum"]),
        ("ChoiceState", schemas["ChoiceState"]["enum"], common["choice_state"]["enum"]),
        ("Source", schemas["Source"]["enum"], [s for s in event["source"]["enum"] if s]),
        ("Suppression", schemas["Suppression"]["enum"], common["suppression"]["enum"]),
        ("OSPermission", schemas["OSPermission"]["enum"], common["os_permission"]["enum"]),
        ("TokenStatus", schemas["TokenStatus"]["enum"], common["token_status"]["enum"]),
        ("Platform", schemas["Platform"]["enum"], common["platform"]["enum"]),
        ("kind", row["kind"]["enum"], audit["kind"]["enum"]),
        ("outcome", row["outcome"]["enum"], audit["outcome"]["enum"]),
        ("types", list(schemas["Event"]["discriminator"]["mapping"]), event["type"]["enum"]),
    ):
        # A default is set by a path of its own.
        contracts.expect(set(here) | {"default_set"} == set(there) | {"default_set"}, f"openapi.yaml: {name}: {here}")
    contracts.expect(
        set(schemas["AuditRow"]["required"]) == set(contracts.schemas["preference-audit"]["required"]),
        "openapi.yaml: the members of an audit row",
    )


def check_events(contracts, document, root):
    """An event is taken over HTTP where it is taken over Kafka, and with its user left out."""
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry = Registry().with_resource("urn:openapi", resource)
    validator = Draft202012Validator({"$ref": "urn:openapi#/components/schemas/Event"}, registry=registry)
    fixtures = json.loads((root / "Tests/contracts/fixtures.json").read_text())["preference-event"]
    for event in fixtures["good"]:
        if event["type"] == "default_set":
            continue
        for taken in (event, {k: v for k, v in event.items() if k != "user_id"}):
            contracts.expect(validator.is_valid(taken), f"openapi.yaml refuses {json.dumps(taken)}")
    for event in [{}, {"type": "choice_set"}, []] + [fixtures["good"][0] | {"state": s} for s in ("on", None, "")]:
        contracts.expect(not validator.is_valid(event), f"openapi.yaml lets through {json.dumps(event)}")


def references(value):
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k == "$ref" and isinstance(v, str))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


def mapping(document):
    return document["components"]["schemas"]["Event"]["discriminator"]["mapping"].values()


def follow(document, reference):
    for step in reference.removeprefix("#/").split("/"):
        document = document.get(step) if isinstance(document, dict) else None
    return document


def resolve(document, value):
    return follow(document, value["$ref"]) if "$ref" in value else value

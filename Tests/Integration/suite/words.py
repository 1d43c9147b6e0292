"""What a running system calls things: what a provider took is accepted, and nobody says that it arrived."""

from harness.cases import case
from harness.checking import expect
from suite.selftest_run import System

NEVER = ("delivered", "送达", "已送到")


@case()
def nothing_is_called_delivered(world):
    """Requirements R1: pages, API, records, metrics and health of the gate and of the preference service, after decisions of both kinds."""
    system = System(world)
    system.must_agree()
    user = "sendgate-selftest.active"
    said = {f"the gate's {path}": system.gate.get(path)[1] for path in ("/metrics", "/readyz?verbose")}
    for path in ("/metrics", "/readyz?verbose", "/v1/openapi.yaml", "/v1/reasons", "/v1/evidence/state", f"/v1/evidence/users/{user}"):
        said[path] = system.service.must("GET", path, role="admin").body
    paths = ["/console", f"/console/users/{user}", "/console/charts", "/console/selftest", "/console/reasons"]
    paths += [f"{path}?lang=zh" for path in paths]
    said |= dict(zip(paths, system.pages(*paths)))
    reader = world.reader(("approved", "deferred", "dropped", "selftest", "receipts"))
    outputs = list(reader.to_end())
    # One of each user, and more where the gate had not followed yet and was asked again.
    expect(len(outputs) >= 3, f"{len(outputs)} records")
    said |= {f"a record on {output.topic}": output.value.decode() for output in outputs}
    for place, text in said.items():
        expect(text, f"{place} says nothing")
        for word in NEVER:
            expect(word not in text.lower(), f"{place} says {word}")
    expect("Accepted by the provider" in said["/console/charts"] + said[f"/console/users/{user}"], "what it is called instead")
    system.end()

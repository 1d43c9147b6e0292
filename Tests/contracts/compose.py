"""Checks deploy/compose: who may write what, and that what is mounted is there and good."""

import os
import subprocess
import tempfile

import yaml


def check(contracts, root, topics, command):
    """Who may write what, as the ACL job says it; that what is mounted is there, and good."""
    folder = root / "deploy/compose"
    compose = yaml.safe_load((folder / "compose.yaml").read_text())
    services = compose["services"]
    wanted = {"kafka", "topics", "keys", "sendgate", "serve"}
    contracts.expect(wanted <= set(services), f"compose.yaml: {sorted(wanted - set(services))} is missing")
    for name, service in services.items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            is_there = (folder / source).is_file() if source.startswith(".") else source in compose["volumes"]
            contracts.expect(is_there, f"compose.yaml: {name} mounts {source}, which is not there")
    check_settings(contracts, root, command)
    script = (folder / "topics.sh").read_text()
    for topic in topics:
        contracts.expect(topic in script, f"topics.sh does not make {topic}")
    writers = {}
    for line in script.splitlines():
        words = line.split()
        if len(words) >= 3 and words[0] == "may_write":
            for topic in words[2:]:
                writers.setdefault(topic, set()).add(words[1])
    contracts.expect(writers.get("notifications.candidate.security") == {"security-team"}, f"security: {writers}")
    for topic in (
        "notifications.approved",
        "notifications.deferred",
        "notifications.dropped",
        "notifications.state",
        "notifications.state.security",
    ):
        contracts.expect(writers.get(topic) == {"gate"}, f"{topic} is written by {writers.get(topic)}")
    for topic in ("preferences.state", "preferences.defaults", "preferences.audit"):
        contracts.expect(writers.get(topic) == {"preference-service"}, f"{topic} is written by {writers.get(topic)}")


def check_settings(contracts, root, command):
    """What gate and service must agree on; and each file, as `sendgate check` judges it beside the keys of keys.sh."""
    compose = root / "deploy/compose"
    settings = {}
    for name in ("sendgate", "preferences"):
        lines = (compose / f"{name}.properties").read_text().splitlines()
        settings[name] = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    for key in ("policy.file", "unsubscribe.base_url", "unsubscribe.keys_file"):
        values = [found.get(key) for found in settings.values()]
        contracts.expect(values[0] == values[1] and values[0], f"deploy/compose: {key} is {values}")
    if not command:
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "PATH": f"{os.path.dirname(os.path.abspath(command[0]))}:{os.environ['PATH']}",
            "SENDGATE_KAFKA_SASL_PASSWORD": "secret",
        }
        for _ in range(2):  # The second time everything is there.
            made = subprocess.run(["bash", compose / "keys.sh", folder], env=environment, capture_output=True, text=True)
            contracts.expect(made.returncode == 0, f"keys.sh ended with {made.returncode}: {made.stderr}")
        for name, whom in (("sendgate", "run"), ("preferences", "serve")):
            here = {
                key: value.replace("/var/lib/sendgate-keys", folder)
                .replace("/var/lib/sendgate-preferences", folder)
                .replace("/etc/sendgate/policy.json", str(root / "deploy/policy.json"))
                for key, value in settings[name].items()
            }
            words = [word for key, value in here.items() for word in ("--set", f"{key}={value}")]
            told = subprocess.run(
                [*command, "check", "--for", whom, *words], env=environment, capture_output=True, text=True
            )
            contracts.expect(told.returncode == 0, f"compose's {name}.properties: {told.stderr}")

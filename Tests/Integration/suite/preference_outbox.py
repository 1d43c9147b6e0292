"""What the preference service publishes, and what it does while Kafka takes none of it."""

import json
from urllib.parse import quote

from harness.brokers import INJECTS
from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.murmur2 import partition_of
from harness.service import Service


def versions_of(reader, user):
    """Of the user's documents, in the order in which they were read."""
    found = [record for record in reader.read if record.topic == "preferences.state" and record.key == user.encode()]
    return [json.loads(record.value)["version"] for record in found if record.value]


@case()
def documents_lie_where_the_gate_looks(world):
    """Every user's newest document is on the partition of its key and equal to what the API says; versions never fall."""
    world.create_topics(partitions=6)
    service = Service(world).await_ready()
    users = [f"user-{number}" for number in range(40)] + ["ünï", "a b"]
    for turn in range(3):
        for user in users:
            body = {"state": ("user-on", "user-off")[turn % 2], "source": "in_app_settings"}
            service.must("PUT", f"/v1/users/{quote(user, safe='')}/choices/social", body)
    reader = world.reader(["preferences.state"])
    reader.until("the newest are published", lambda _: all(3 in versions_of(reader, user) for user in users), 60)
    for user in users:
        records = [record for record in reader.read if record.key == user.encode()]
        expect_equal({record.partition for record in records}, {partition_of(user.encode(), 6)}, f"{user}'s partition")
        versions = versions_of(reader, user)
        expect_equal(versions, sorted(versions), f"{user}'s versions")
        read = service.must("GET", f"/v1/users/{quote(user, safe='')}/preferences").json
        expect_equal(records[-1].record, read, f"{user}'s newest document")
    service.end()


@case(INJECTS)
def a_refused_topic_holds_up_no_other(world):
    """Kafka takes no audit: documents go out all the same, a metric and /readyz name the topic and what to grant; once granted, the audit follows."""
    world.broker = world.second_broker(0).start()
    world.write_config(world.broker.bootstrap)
    world.create_topics()
    world.broker.inject(f"Produce topic={world.topics['preferences.audit']} error TOPIC_AUTHORIZATION_FAILED\n")
    service = Service(world).await_ready()
    reader = world.reader(["preferences.state", "preferences.audit"])

    def refused(topic):
        return service.metric("sendgate_preferences_outbox_refused", topic=topic)

    for version, state in ((1, "user-off"), (2, "user-on")):
        service.choose("u-1", "social", state)
        reader.until("the document is published", lambda _, v=version: versions_of(reader, "u-1")[-1:] == [v], 60)
        until("the audit is told to be refused", lambda: refused("audit") == 1, 60)
    expect_equal(refused("state"), 0, "documents that are refused")
    expect_equal(service.metric("sendgate_preferences_outbox_waiting", topic="audit"), 2, "rows that wait")
    told = service.must("GET", "/readyz?verbose", role=None).body
    for words in (world.topics["preferences.audit"], "TOPIC_AUTHORIZATION_FAILED", "grant"):
        expect(words in told, f"/readyz does not say {words}: {told}")
    world.broker.inject("")
    until("nothing waits", lambda: service.metric("sendgate_preferences_outbox_waiting") == 0, 60)
    until("nothing is refused", lambda: refused("audit") == 0, 60)
    rows = [record for record in reader.to_end() if record.topic == "preferences.audit"]
    expect_equal({row.record["sequence"] for row in rows}, {1, 2}, "rows that are published")
    service.end()


@case()
def changes_wait_while_the_broker_is_away(world):
    """Without a broker changes are taken and kept, and the service is ready; when there is one the newest document is published for all."""
    world.write_config("127.0.0.1:1")
    service = Service(world).await_ready()
    for turn in range(6):
        service.choose("u-1", "social", ("user-on", "user-off")[turn % 2])
    until("what waits is told", lambda: service.metric("sendgate_preferences_outbox_waiting") >= 6)
    service.end()
    world.write_config(world.broker.bootstrap)
    world.create_topics()
    again = Service(world, "serve-1").await_ready()
    reader = world.reader(["preferences.state"])
    until("nothing waits", lambda: again.metric("sendgate_preferences_outbox_waiting") == 0, 60)
    # All waited, so the newest stands for those before it.
    expect_equal([json.loads(record.value)["version"] for record in reader.to_end()], [6], "the versions")
    again.end()

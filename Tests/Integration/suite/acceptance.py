"""What the product promises its users, on a broker."""

from harness.cases import case
from harness.checking import expect, expect_equal, until
from harness.records import candidate, choice, device, document, place_between
from harness.verify import check_all
from harness.world import outputs_of


@case()
def germany_without_opt_in(world):
    """Marketing to a device in Germany without an opt-in is dropped as no_gdpr_consent, and nothing is approved."""
    world.create_topics()
    german = device(region="DE", timezone="Europe/Berlin")
    world.prefer(document("u-de", devices=[german]))
    world.prefer(document("u-us", devices=[device(region="US")]))
    gate = world.gate()
    reader = world.reader()
    world.send(candidate("n-de", "u-de", "marketing", event="promotion"))
    # A witness: marketing that may go out does, so that "nothing approved" is no accident.
    world.send(candidate("n-us", "u-us", "marketing", event="promotion"))
    world.flush()
    reader.count(2)
    gate.drain()
    outputs = reader.to_end()
    (dropped,) = outputs_of(outputs, "n-de")
    expect_equal(dropped.topic, "dropped", "where Germany's went")
    expect_equal(dropped.record["reason"], "no_gdpr_consent", "why")
    expect_equal(dropped.record["blocked_by"], ["no_gdpr_consent", "category_default_off"], "blocked_by")
    approved = [output.record["notification_id"] for output in outputs if output.topic == "approved"]
    expect_equal(approved, ["n-us"], "what was approved")
    check_all(world, outputs)


@case()
def late_evening_social_and_security(world):
    """At 23:xx by the user's wall clock social is dropped for quiet hours; a login alert of that minute is critical."""
    world.create_topics()
    zone = place_between(23 * 60, 24 * 60)
    night = {"start": "22:00", "end": "08:00"}
    world.prefer(document("u-1", devices=[device(timezone=zone)], quiet_hours=night))
    gate = world.gate()
    reader = world.reader()
    world.send(candidate("n-like", "u-1", "social", event="like"))
    alert = candidate("n-login", "u-1", "security", event="suspicious_login", critical=True)
    world.send(alert, security=True)
    world.flush()
    reader.count(2)
    gate.drain()
    outputs = reader.to_end()
    (like,), (login,) = outputs_of(outputs, "n-like"), outputs_of(outputs, "n-login")
    expect_equal((like.topic, like.record["reason"]), ("dropped", "quiet_hours_dropped"), "the like")
    expect_equal(
        (login.topic, login.record["reason"], login.record["critical"], login.record["interruption"]),
        ("approved", "quiet_hours_bypassed", True, "critical"),
        "the login alert",
    )
    for output in (like, login):
        expect_equal(output.record["evidence"]["quiet_hours"]["in_window"], True, "in_window of both")
    check_all(world, outputs)


@case()
def explicit_choice_survives_new_default(world):
    """A device set to user-off gets nothing before or after the default changes; a user on default follows it."""
    world.create_topics()
    off = device("d-A", categories={"marketing": choice("user-off")})
    world.prefer(document("u-off", devices=[off]))
    world.prefer(document("u-default", devices=[device("d-B")]))
    world.prefer_default("marketing", "off", "off")
    gate = world.gate()
    reader = world.reader()
    (first,) = world.decide(reader, candidate("n-B1", "u-default", "marketing"))
    expect_equal((first.topic, first.record["reason"]), ("dropped", "category_default_off"), "while the default is off")
    (first,) = world.decide(reader, candidate("n-A1", "u-off", "marketing"))
    expect_equal((first.topic, first.record["reason"]), ("dropped", "device_opted_out"), "device A at first")

    world.prefer_default("marketing", "on", "off")
    asked = []

    def followed():
        asked.append(f"n-B{len(asked) + 2}")
        (output,) = world.decide(reader, candidate(asked[-1], "u-default", "marketing"))
        return output.topic == "approved"

    until("the new default is in force", followed, 30)
    (last,) = world.decide(reader, candidate("n-A2", "u-off", "marketing"))
    expect_equal((last.topic, last.record["reason"]), ("dropped", "device_opted_out"), "device A at last")
    gate.drain()
    outputs = reader.to_end()
    expect(
        not any(o.topic == "approved" and o.record["user_id"] == "u-off" for o in outputs),
        "something was approved for device A",
    )
    check_all(world, outputs)

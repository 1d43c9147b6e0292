"""The evidence database as a test sees it: with Python's own SQLite, not by the reader under test."""

import os
import sqlite3
from collections import Counter

from harness.checking import expect_equal, until


def evidence_path(world):
    return os.path.join(world.directory, "evidence.db")


class EvidenceDatabase:
    """What was indexed; every question sees what is committed then."""

    def __init__(self, world):
        self.world = world
        self.path = evidence_path(world)
        self.names = {topic: name for name, topic in world.topics.items()}

    def ask(self, sql, *values):
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def places(self, table="attempts"):
        """(short topic, partition, offset) -> how many rows say that they stand there."""
        rows = self.ask(
            f"SELECT s.topic, s.partition_number, t.kafka_offset FROM {table} t JOIN sources s ON s.source = t.source"
        )
        return Counter((self.names[topic], partition, offset) for topic, partition, offset in rows)

    def holds(self):
        return sorted(self.ask("SELECT user_id, notification_id, device_id FROM holds_open"))

    def counts(self):
        return Counter({(o, r): n for o, r, n in self.ask("SELECT outcome, reason, sum(n) FROM counts GROUP BY 1, 2")})


def records_of(outputs):
    """What ought to be indexed of what a read_committed reader sees, and how often: null values end holds."""
    return Counter((output.topic, output.partition, output.offset) for output in outputs if output.value is not None)


def await_indexed(world, reader, seconds=60):
    """Waits until everything that is on the output topics is indexed, once; returns the database and the outputs."""
    outputs = reader.to_end()
    wanted = records_of(outputs)
    database = EvidenceDatabase(world)
    until(f"{len(wanted)} records are indexed", lambda: len(database.places()) >= len(wanted), seconds, every=0.1)
    found = database.places()
    expect_equal(sorted((wanted - found).items()), [], "records that are not indexed")
    expect_equal(sorted((found - wanted).items()), [], "records indexed twice, or that are not there")
    return database, outputs

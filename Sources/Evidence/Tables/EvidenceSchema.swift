import Preferences

/// The index's tables. A released migration is never edited: what is to be different is a new one.
///
/// Times are milliseconds since the epoch. A record is kept as it came; columns hold what is searched.
enum EvidenceSchema {
  static let migrations = [Migration(version: 1, script: version1)]

  static let version1 = """
    CREATE TABLE sources (
      source BIGINT NOT NULL PRIMARY KEY,
      topic TEXT NOT NULL,
      content TEXT NOT NULL,
      partition_number BIGINT NOT NULL,
      incarnation BIGINT NOT NULL,
      next_offset BIGINT NOT NULL,
      last_offset BIGINT,
      last_digest BIGINT,
      UNIQUE (topic, partition_number, incarnation)
    ) /*table*/;

    CREATE TABLE attempts (
      sequence BIGINT NOT NULL PRIMARY KEY,
      source BIGINT NOT NULL,
      kafka_offset BIGINT NOT NULL,
      at_ms BIGINT NOT NULL,
      user_id TEXT,
      notification_id TEXT,
      device_id TEXT,
      is_readable BIGINT NOT NULL,
      packing BIGINT NOT NULL,
      plain_bytes BIGINT NOT NULL,
      record BYTEA NOT NULL
    ) /*table*/;
    CREATE UNIQUE INDEX attempts_by_place ON attempts (source, kafka_offset);
    CREATE INDEX attempts_of_user ON attempts (user_id, at_ms);
    CREATE INDEX attempts_of_notification ON attempts (notification_id, device_id);
    CREATE INDEX attempts_of_device ON attempts (device_id, at_ms);

    CREATE TABLE receipts (
      sequence BIGINT NOT NULL PRIMARY KEY,
      source BIGINT NOT NULL,
      kafka_offset BIGINT NOT NULL,
      at_ms BIGINT NOT NULL,
      user_id TEXT,
      notification_id TEXT,
      device_id TEXT,
      packing BIGINT NOT NULL,
      plain_bytes BIGINT NOT NULL,
      record BYTEA NOT NULL
    ) /*table*/;
    CREATE UNIQUE INDEX receipts_by_place ON receipts (source, kafka_offset);
    CREATE INDEX receipts_of_user ON receipts (user_id);
    CREATE INDEX receipts_of_notification ON receipts (notification_id, device_id);

    CREATE TABLE holds_open (
      user_id TEXT NOT NULL,
      notification_id TEXT NOT NULL,
      device_id TEXT NOT NULL,
      source BIGINT NOT NULL,
      at_ms BIGINT NOT NULL,
      due_ms BIGINT NOT NULL,
      PRIMARY KEY (user_id, notification_id, device_id)
    ) /*keyed*/;
    CREATE INDEX holds_open_by_due ON holds_open (due_ms);

    CREATE TABLE counts (
      hour_ms BIGINT NOT NULL,
      outcome TEXT NOT NULL,
      category TEXT NOT NULL,
      reason TEXT NOT NULL,
      n BIGINT NOT NULL,
      PRIMARY KEY (hour_ms, outcome, category, reason)
    ) /*keyed*/;

    CREATE TABLE erased_users (
      user_hash BYTEA NOT NULL PRIMARY KEY,
      through_ms BIGINT NOT NULL,
      recorded_at_ms BIGINT NOT NULL
    ) /*keyed*/;

    CREATE TABLE progress (
      id BIGINT NOT NULL PRIMARY KEY,
      fresh_at_ms BIGINT,
      records_behind BIGINT,
      newest_ms BIGINT
    ) /*table*/;
    INSERT INTO progress (id) VALUES (1);

    CREATE TABLE selftests (
      sequence BIGINT NOT NULL PRIMARY KEY,
      at_ms BIGINT NOT NULL,
      version TEXT NOT NULL,
      outcome TEXT NOT NULL,
      report TEXT NOT NULL
    ) /*table*/;

    CREATE TABLE secrets (
      name TEXT NOT NULL PRIMARY KEY,
      value BYTEA NOT NULL
    ) /*keyed*/;
    """
}

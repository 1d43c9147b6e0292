/// The store's tables. A released migration is never edited: what is to be different is a new one.
///
/// A scope is the column `device_id`; the empty text, which is no device's id, is the account. Times
/// are milliseconds since the epoch. Values of closed sets are kept by name, so that the tables can be
/// read with the database's own tools.
enum Schema {
  static let migrations = [
    Migration(version: 1, script: version1), Migration(version: 2, script: version2),
  ]

  /// Each topic's rows are read by themselves, and counted as they come and go. A receipt has the instant
  /// it tells of, and what came of a link is known for as long as links live.
  static let version2 = """
    ALTER TABLE outbox ADD COLUMN at_ms BIGINT;
    ALTER TABLE event_ids ADD COLUMN is_of_link BIGINT NOT NULL DEFAULT 0;
    UPDATE event_ids SET is_of_link = 1 WHERE event_id LIKE 'page-%';
    DROP INDEX event_ids_by_age;
    CREATE INDEX event_ids_by_age ON event_ids (is_of_link, recorded_at_ms);
    CREATE INDEX outbox_of_topic ON outbox (topic, sequence);

    CREATE TABLE outbox_counts (
      topic TEXT NOT NULL PRIMARY KEY,
      waiting BIGINT NOT NULL
    ) /*keyed*/;
    INSERT INTO outbox_counts (topic, waiting) VALUES
      ('state', (SELECT count(*) FROM outbox WHERE topic = 'state')),
      ('defaults', (SELECT count(*) FROM outbox WHERE topic = 'defaults')),
      ('audit', (SELECT count(*) FROM outbox WHERE topic = 'audit')),
      ('receipts', (SELECT count(*) FROM outbox WHERE topic = 'receipts'));
    """

  static let version1 = """
    CREATE TABLE sequences (
      name TEXT NOT NULL PRIMARY KEY,
      value BIGINT NOT NULL
    ) /*keyed*/;
    INSERT INTO sequences (name, value) VALUES ('user_key', 0), ('audit', 0), ('outbox', 0);

    CREATE TABLE secrets (
      name TEXT NOT NULL PRIMARY KEY,
      value BYTEA NOT NULL
    ) /*keyed*/;

    CREATE TABLE users (
      user_key BIGINT NOT NULL PRIMARY KEY,
      user_id TEXT NOT NULL UNIQUE,
      version BIGINT NOT NULL,
      secret BYTEA NOT NULL,
      created_at_ms BIGINT NOT NULL,
      zone TEXT,
      zone_at_ms BIGINT,
      zone_source TEXT
    ) /*table*/;

    CREATE TABLE sms_consents (
      user_key BIGINT NOT NULL PRIMARY KEY REFERENCES users (user_key) ON DELETE CASCADE,
      state TEXT NOT NULL,
      at_ms BIGINT NOT NULL,
      source TEXT
    ) /*table*/;

    CREATE TABLE choices (
      user_key BIGINT NOT NULL REFERENCES users (user_key) ON DELETE CASCADE,
      device_id TEXT NOT NULL,
      category TEXT NOT NULL,
      made_state TEXT,
      made_at_ms BIGINT,
      made_source TEXT,
      is_link_muted BIGINT,
      link_at_ms BIGINT,
      link_source TEXT,
      PRIMARY KEY (user_key, device_id, category)
    ) /*keyed*/;

    CREATE TABLE mutes (
      user_key BIGINT NOT NULL REFERENCES users (user_key) ON DELETE CASCADE,
      category TEXT NOT NULL,
      subtype TEXT NOT NULL,
      is_muted BIGINT NOT NULL,
      at_ms BIGINT NOT NULL,
      source TEXT,
      PRIMARY KEY (user_key, category, subtype)
    ) /*keyed*/;

    CREATE TABLE suppressions (
      user_key BIGINT NOT NULL REFERENCES users (user_key) ON DELETE CASCADE,
      device_id TEXT NOT NULL,
      suppression TEXT NOT NULL,
      is_set BIGINT NOT NULL,
      at_ms BIGINT NOT NULL,
      source TEXT,
      PRIMARY KEY (user_key, device_id, suppression)
    ) /*keyed*/;

    CREATE TABLE quiet_hours (
      user_key BIGINT NOT NULL REFERENCES users (user_key) ON DELETE CASCADE,
      device_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      start_minute BIGINT,
      end_minute BIGINT,
      days BIGINT,
      at_ms BIGINT NOT NULL,
      source TEXT,
      PRIMARY KEY (user_key, device_id)
    ) /*keyed*/;

    CREATE TABLE devices (
      user_key BIGINT NOT NULL REFERENCES users (user_key) ON DELETE CASCADE,
      device_id TEXT NOT NULL,
      platform TEXT,
      os_permission TEXT,
      zone TEXT,
      region TEXT,
      sync_at_ms BIGINT,
      sync_source TEXT,
      token_status TEXT,
      token_at_ms BIGINT,
      token_source TEXT,
      first_seen_ms BIGINT,
      last_seen_ms BIGINT,
      removed_ms BIGINT,
      is_held BIGINT NOT NULL,
      PRIMARY KEY (user_key, device_id)
    ) /*keyed*/;

    CREATE TABLE shared_devices (
      device_id TEXT NOT NULL PRIMARY KEY,
      holder_key BIGINT REFERENCES users (user_key) ON DELETE SET NULL,
      claimed_at_ms BIGINT,
      prompt_at_ms BIGINT,
      prompt_moment TEXT
    ) /*keyed*/;
    CREATE INDEX shared_devices_of_holder ON shared_devices (holder_key);

    CREATE TABLE audit (
      sequence BIGINT NOT NULL PRIMARY KEY,
      user_key BIGINT REFERENCES users (user_key) ON DELETE CASCADE,
      device_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      category TEXT,
      subject TEXT,
      value_before TEXT,
      value_after TEXT,
      at_ms BIGINT NOT NULL,
      recorded_at_ms BIGINT NOT NULL,
      source TEXT,
      event_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      reason TEXT
    ) /*table*/;
    CREATE INDEX audit_of_user ON audit (user_key, sequence);

    CREATE TABLE outbox (
      sequence BIGINT NOT NULL PRIMARY KEY,
      topic TEXT NOT NULL,
      user_key BIGINT,
      record_key TEXT NOT NULL,
      record_value TEXT,
      created_at_ms BIGINT NOT NULL
    ) /*table*/;
    CREATE INDEX outbox_of_user ON outbox (user_key);

    CREATE TABLE event_ids (
      user_key BIGINT NOT NULL,
      event_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      refusal_code TEXT,
      refusal_words TEXT,
      version BIGINT NOT NULL,
      recorded_at_ms BIGINT NOT NULL,
      PRIMARY KEY (user_key, event_id)
    ) /*keyed*/;
    CREATE INDEX event_ids_by_age ON event_ids (recorded_at_ms);

    CREATE TABLE erased_users (
      user_hash BYTEA NOT NULL PRIMARY KEY,
      erased_at_ms BIGINT NOT NULL,
      recorded_at_ms BIGINT NOT NULL
    ) /*keyed*/;
    CREATE INDEX erased_users_by_age ON erased_users (recorded_at_ms);

    CREATE TABLE defaults (
      category TEXT NOT NULL PRIMARY KEY,
      is_on BIGINT,
      is_on_where_regulated BIGINT,
      at_ms BIGINT NOT NULL
    ) /*keyed*/;

    CREATE TABLE kafka_offsets (
      topic TEXT NOT NULL,
      partition_number BIGINT NOT NULL,
      next_offset BIGINT NOT NULL,
      PRIMARY KEY (topic, partition_number)
    ) /*keyed*/;
    """
}

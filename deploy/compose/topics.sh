#!/bin/bash
# Makes the topics and the access rules. It can run again: what is there is left as it is.
set -euo pipefail

KAFKA=/opt/kafka/bin
BROKER=(--bootstrap-server kafka:9092 --command-config /etc/sendgate/admin.properties)
# What comes of candidate partition p goes to partition p, so these topics share one count.
PARTITIONS=8
SECURITY_PARTITIONS=4

topic() { # NAME PARTITIONS [SETTING ...]
  local name=$1 partitions=$2 settings=()
  shift 2
  for setting in "$@"; do settings+=(--config "$setting"); done
  "$KAFKA/kafka-topics.sh" "${BROKER[@]}" --create --if-not-exists --topic "$name" \
    --partitions "$partitions" --replication-factor 1 "${settings[@]}"
}

acl() { "$KAFKA/kafka-acls.sh" "${BROKER[@]}" --add "$@" >/dev/null; }

topics_of() { for topic in "$@"; do printf -- '--topic\n%s\n' "$topic"; done; }

may_write() { # PRINCIPAL TOPIC ...
  local principal=$1 arguments
  mapfile -t arguments < <(topics_of "${@:2}")
  acl --allow-principal "User:$principal" --operation Write --operation Describe "${arguments[@]}"
}

may_read() { # PRINCIPAL TOPIC ...
  local principal=$1 arguments
  mapfile -t arguments < <(topics_of "${@:2}")
  acl --allow-principal "User:$principal" --operation Read --operation Describe "${arguments[@]}"
}

# Consumer groups whose name starts with the prefix.
may_use_groups() { # PRINCIPAL PREFIX
  acl --allow-principal "User:$1" --operation Read --operation Describe \
    --group "$2" --resource-pattern-type prefixed
}

topic notifications.candidate "$PARTITIONS" cleanup.policy=delete
topic notifications.candidate.security "$SECURITY_PARTITIONS" cleanup.policy=delete
topic notifications.approved "$PARTITIONS" cleanup.policy=delete
topic notifications.deferred "$PARTITIONS" cleanup.policy=compact
topic notifications.dropped "$PARTITIONS" cleanup.policy=delete retention.ms=2592000000
topic notifications.selftest "$PARTITIONS" cleanup.policy=delete retention.ms=604800000
topic notifications.receipts "$PARTITIONS" cleanup.policy=delete
topic notifications.state "$PARTITIONS" cleanup.policy=compact
topic notifications.state.security "$SECURITY_PARTITIONS" cleanup.policy=compact
topic preferences.state "$PARTITIONS" cleanup.policy=compact \
  min.compaction.lag.ms=86400000 max.compaction.lag.ms=604800000
topic preferences.defaults 1 cleanup.policy=compact
topic preferences.events "$PARTITIONS" cleanup.policy=delete
topic preferences.audit "$PARTITIONS" cleanup.policy=delete retention.ms=-1

# Who is the security team is decided here and nowhere else: the gate believes the topic.
may_write security-team notifications.candidate.security
may_write producer notifications.candidate

# The gate alone says what is approved, held or dropped, and keeps its own state.
# What is approved for the self-test's users goes to a topic that no dispatcher may read.
may_write gate notifications.approved notifications.deferred notifications.dropped notifications.selftest
may_write gate notifications.state notifications.state.security
may_read gate notifications.candidate notifications.candidate.security notifications.receipts
may_read gate notifications.deferred notifications.state notifications.state.security
may_read gate preferences.state preferences.defaults
may_use_groups gate sendgate
acl --allow-principal User:gate --operation Write --operation Describe \
  --transactional-id sendgate --resource-pattern-type prefixed
# It compares the topics' settings and partition counts with what it needs.
acl --allow-principal User:gate --operation DescribeConfigs --topic notifications. --topic preferences. \
  --resource-pattern-type prefixed
acl --allow-principal User:gate --operation Describe --topic preferences. --resource-pattern-type prefixed

may_write preference-service preferences.state preferences.defaults preferences.audit notifications.receipts
may_read preference-service preferences.state preferences.defaults preferences.events preferences.audit
may_read preference-service notifications.receipts

may_write apps preferences.events

may_read dispatcher notifications.approved
may_write dispatcher notifications.receipts
# It reads its own receipts back, so that nothing is sent twice (`sendgate dispatch` of group.id sendgate).
may_read dispatcher notifications.receipts
may_use_groups dispatcher sendgate.dispatch
acl --allow-principal User:dispatcher --operation Write --operation Describe \
  --transactional-id sendgate.dispatch --resource-pattern-type prefixed

# Writes a notification for users that nobody is, and reads what every part makes of it (`sendgate selftest`).
may_write selftest notifications.candidate
may_read selftest preferences.state notifications.approved notifications.deferred notifications.dropped
may_read selftest notifications.selftest

may_read analyst notifications.dropped
may_use_groups analyst analyst

"$KAFKA/kafka-acls.sh" "${BROKER[@]}" --list

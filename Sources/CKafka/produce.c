#include "CKafka.h"

#include <string.h>

static int is_name(const char *name, const char *own) { return !strcmp(name, own); }

static int is_own(const char *name) {
  return is_name(name, "outcome") || is_name(name, "reason") || is_name(name, "notification_id");
}

static size_t carried_of(const rd_kafka_message_t *source, rd_kafka_headers_t **carried) {
  *carried = NULL;
  if (!source || rd_kafka_message_headers(source, carried)) return 0;
  return rd_kafka_header_cnt(*carried);
}

// A kept header: the lengths of name and value, 32 bits each (a null value's is all ones), then both.
static const uint32_t null_size = UINT32_MAX;

size_t ck_kept_headers(const rd_kafka_message_t *source, void *out, size_t capacity) {
  rd_kafka_headers_t *carried;
  size_t count = carried_of(source, &carried), used = 0;
  const char *name;
  const void *value;
  size_t size;
  for (size_t i = 0; i < count; i++) {
    if (rd_kafka_header_get_all(carried, i, &name, &value, &size) || is_own(name)) continue;
    uint32_t sizes[2] = {(uint32_t)strlen(name), value ? (uint32_t)size : null_size};
    if (!value) size = 0;
    size_t end = used + sizeof sizes + sizes[0] + size;
    if (end <= capacity) {
      char *at = (char *)out + used;
      memcpy(at, sizes, sizeof sizes);
      memcpy(at + sizeof sizes, name, sizes[0]);
      if (size) memcpy(at + sizeof sizes + sizes[0], value, size);
    }
    used = end;
  }
  return used;
}

static void add_kept(rd_kafka_headers_t *headers, ck_bytes kept) {
  const char *at = kept.base, *end = at + kept.size;
  while (at < end) {
    uint32_t sizes[2];
    memcpy(sizes, at, sizeof sizes);
    const char *name = at + sizeof sizes, *value = name + sizes[0];
    size_t size = sizes[1] == null_size ? 0 : sizes[1];
    rd_kafka_header_add(headers, name, (ssize_t)sizes[0], sizes[1] == null_size ? NULL : value,
                        (ssize_t)size);
    at = value + size;
  }
}

static rd_kafka_headers_t *decision_headers(const rd_kafka_message_t *source, ck_bytes kept,
                                            ck_bytes outcome, ck_bytes reason,
                                            ck_bytes notification_id) {
  rd_kafka_headers_t *carried;
  size_t count = carried_of(source, &carried);
  rd_kafka_headers_t *headers = rd_kafka_headers_new(count + 3);
  const char *name;
  const void *value;
  size_t size;
  for (size_t i = 0; i < count; i++)
    if (!rd_kafka_header_get_all(carried, i, &name, &value, &size) && !is_own(name))
      rd_kafka_header_add(headers, name, -1, value, (ssize_t)size);
  if (!source) add_kept(headers, kept);
  rd_kafka_header_add(headers, "outcome", 7, outcome.base, (ssize_t)outcome.size);
  rd_kafka_header_add(headers, "reason", 6, reason.base, (ssize_t)reason.size);
  if (notification_id.base)
    rd_kafka_header_add(headers, "notification_id", 15, notification_id.base,
                        (ssize_t)notification_id.size);
  return headers;
}

rd_kafka_resp_err_t ck_produce(rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition,
                               ck_bytes key, ck_bytes value, rd_kafka_headers_t *headers,
                               int64_t timestamp_ms, uintptr_t tag) {
  rd_kafka_resp_err_t code;
  if (headers)
    code = rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.base, key.size),
        RD_KAFKA_V_VALUE((void *)value.base, value.size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_TIMESTAMP(timestamp_ms), RD_KAFKA_V_OPAQUE((void *)tag), RD_KAFKA_V_END);
  else
    code = rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.base, key.size),
        RD_KAFKA_V_VALUE((void *)value.base, value.size), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
        RD_KAFKA_V_OPAQUE((void *)tag), RD_KAFKA_V_END);
  // Headers stay the caller's when producing fails.
  if (code && headers) rd_kafka_headers_destroy(headers);
  return code;
}

rd_kafka_resp_err_t ck_produce_decision(rd_kafka_t *client, rd_kafka_topic_t *topic,
                                        int32_t partition, ck_bytes key, ck_bytes value,
                                        const rd_kafka_message_t *source, ck_bytes kept,
                                        ck_bytes outcome, ck_bytes reason,
                                        ck_bytes notification_id) {
  return ck_produce(client, topic, partition, key, value,
                    decision_headers(source, kept, outcome, reason, notification_id), 0, 0);
}

#include "CKafka.h"

#include <stdlib.h>

struct ck_batch {
  size_t count;
  size_t records_max;
  rd_kafka_message_t **messages;
  ck_record *records;
};

// One record a cache line: the loop walks the array once, front to back.
_Static_assert(sizeof(ck_record) == 64, "ck_record must stay one cache line");

ck_batch *ck_batch_new(size_t records_max) {
  ck_batch *batch = calloc(1, sizeof *batch);
  if (!batch) abort();
  batch->records_max = records_max;
  batch->messages = calloc(records_max, sizeof *batch->messages);
  batch->records = aligned_alloc(64, records_max * sizeof *batch->records);
  if (!batch->messages || !batch->records) abort();
  return batch;
}

void ck_batch_free(ck_batch *batch) {
  if (batch->count) abort();
  free(batch->messages);
  free(batch->records);
  free(batch);
}

// What concerns the group or a whole topic comes with no partition, which the message shows as 0: it
// has no topic, or no offset. (An offset that could not be reset has none either, but is a
// partition's.)
static int32_t partition_of(const rd_kafka_message_t *message) {
  if (!message->err) return message->partition;
  if (!message->rkt) return RD_KAFKA_PARTITION_UA;
  if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) return message->partition;
  return message->offset == RD_KAFKA_OFFSET_INVALID ? RD_KAFKA_PARTITION_UA : message->partition;
}

static void flatten(ck_record *record, rd_kafka_message_t *message) {
  record->message = message;
  record->key = message->key;
  record->key_size = message->key_len;
  record->value = message->payload;
  record->value_size = message->len;
  record->offset = message->offset;
  record->partition = partition_of(message);
  record->error = message->err;
  rd_kafka_timestamp_type_t type;
  record->timestamp_ms = message->err ? -1 : rd_kafka_message_timestamp(message, &type);
}

size_t ck_batch_poll(ck_batch *batch, rd_kafka_queue_t *queue, int timeout_ms) {
  if (batch->count) abort();
  ssize_t got = rd_kafka_consume_batch_queue(queue, timeout_ms, batch->messages, 1);
  if (got <= 0) return 0;
  ssize_t more = rd_kafka_consume_batch_queue(queue, 0, batch->messages + got,
                                              batch->records_max - (size_t)got);
  if (more > 0) got += more;
  batch->count = (size_t)got;
  for (size_t i = 0; i < batch->count; i++) flatten(&batch->records[i], batch->messages[i]);
  return batch->count;
}

const ck_record *ck_batch_records(const ck_batch *batch) { return batch->records; }

void ck_batch_release(ck_batch *batch) {
  for (size_t i = 0; i < batch->count; i++) rd_kafka_message_destroy(batch->messages[i]);
  batch->count = 0;
}

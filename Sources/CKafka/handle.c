#include "handle.h"

#include <stdlib.h>

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t code,
                         rd_kafka_topic_partition_list_t *partitions, void *opaque) {
  ck_rebalance_noted(opaque, client, code, partitions);
}

ck_handle *ck_open(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *error_text,
                   size_t error_text_size) {
  ck_handle *handle = calloc(1, sizeof *handle);
  if (!handle) abort();
  rd_kafka_conf_set_opaque(conf, handle);
  // Delivery reports as events: flush then waits on a condition and wakes at the last
  // acknowledgement. With a callback it polls in steps of 10 ms, a whole commit interval of the
  // security lane.
  rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS |
                                     RD_KAFKA_EVENT_LOG);
  if (type == RD_KAFKA_CONSUMER) rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
  handle->client = rd_kafka_new(type, conf, error_text, error_text_size);
  if (!handle->client) {
    rd_kafka_conf_destroy(conf);
    free(handle);
    return NULL;
  }
  handle->main_queue = rd_kafka_queue_get_main(handle->client);
  // Null: the main queue. Needs log.queue=true, which the Swift side always sets.
  if (rd_kafka_set_log_queue(handle->client, NULL)) abort();
  if (type == RD_KAFKA_CONSUMER)
    handle->consumer_queue = rd_kafka_queue_get_consumer(handle->client);
  return handle;
}

rd_kafka_t *ck_client(const ck_handle *handle) { return handle->client; }

rd_kafka_queue_t *ck_consumer_queue(const ck_handle *handle) { return handle->consumer_queue; }

void ck_close(ck_handle *handle) {
  if (handle->event) rd_kafka_event_destroy(handle->event);
  free(handle->undelivered);
  ck_rebalance_forget(handle);
  rd_kafka_queue_destroy(handle->main_queue);
  if (handle->consumer_queue) rd_kafka_queue_destroy(handle->consumer_queue);
  const int version_with_fix = 0x02030000;
  if (handle->has_subscribed && !handle->has_been_assigned && rd_kafka_version() < version_with_fix)
    return;
  rd_kafka_destroy(handle->client);
  free(handle);
}

static void note_undelivered(ck_handle *handle, const rd_kafka_message_t *message) {
  if (handle->undelivered_count == handle->undelivered_capacity) {
    size_t capacity = handle->undelivered_capacity ? 2 * handle->undelivered_capacity : 64;
    handle->undelivered = realloc(handle->undelivered, capacity * sizeof *handle->undelivered);
    if (!handle->undelivered) abort();
    handle->undelivered_capacity = capacity;
  }
  handle->undelivered[handle->undelivered_count++] =
      (ck_undelivered){.tag = (uintptr_t)message->_private, .error = message->err};
}

size_t ck_take_undelivered(ck_handle *handle, const ck_undelivered **out) {
  size_t count = handle->undelivered_count;
  *out = handle->undelivered;
  handle->undelivered_count = 0;
  return count;
}

static void count_failures(ck_handle *handle, rd_kafka_event_t *event) {
  const rd_kafka_message_t *message;
  uint64_t failures = 0;
  while ((message = rd_kafka_event_message_next(event))) {
    if (!message->err) continue;
    failures++;
    atomic_store_explicit(&handle->delivery_failure_last, message->err, memory_order_relaxed);
    if (message->_private) note_undelivered(handle, message);
  }
  atomic_fetch_add_explicit(&handle->delivery_failures, failures, memory_order_relaxed);
}

ck_event_kind ck_next_event(ck_handle *handle, ck_event *out) {
  for (;;) {
    if (handle->event) rd_kafka_event_destroy(handle->event);
    handle->event = rd_kafka_queue_poll(handle->main_queue, 0);
    if (!handle->event) return out->kind = CK_EVENT_NONE;
    out->facility = "";
    switch (rd_kafka_event_type(handle->event)) {
    case RD_KAFKA_EVENT_DR:
      count_failures(handle, handle->event);
      continue;
    case RD_KAFKA_EVENT_LOG: {
      int level = 0;
      if (rd_kafka_event_log(handle->event, &out->facility, &out->text, &level)) continue;
      out->code = level;
      return out->kind = CK_EVENT_LOG;
    }
    case RD_KAFKA_EVENT_ERROR:
      out->code = rd_kafka_event_error(handle->event);
      out->text = rd_kafka_event_error_string(handle->event);
      return out->kind = CK_EVENT_ERROR;
    case RD_KAFKA_EVENT_STATS:
      out->code = 0;
      out->text = rd_kafka_event_stats(handle->event);
      return out->kind = CK_EVENT_STATISTICS;
    default:
      continue;
    }
  }
}

uint64_t ck_delivery_failures(const ck_handle *handle) {
  return atomic_load_explicit(&handle->delivery_failures, memory_order_relaxed);
}

int32_t ck_delivery_failure_last(const ck_handle *handle) {
  return atomic_load_explicit(&handle->delivery_failure_last, memory_order_relaxed);
}

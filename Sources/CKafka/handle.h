#ifndef CKafka_handle_h
#define CKafka_handle_h

#include "CKafka.h"

#include <stdatomic.h>

typedef struct ck_rebalance {
  struct ck_rebalance *next;
  ck_rebalance_kind kind;
  rd_kafka_topic_partition_list_t *partitions;
} ck_rebalance;

// Not in the public header: Swift cannot import C11 atomics.
struct ck_handle {
  rd_kafka_t *client;
  rd_kafka_queue_t *main_queue;
  rd_kafka_queue_t *consumer_queue;  // null on a producer
  rd_kafka_event_t *event;  // whose text was handed out last
  ck_rebalance *first_rebalance;
  ck_rebalance **last_rebalance;  // where the next one is linked in; null while there is none
  // What librdkafka waits to hear about; it has at most one rebalance outstanding.
  ck_rebalance_kind unanswered;
  rd_kafka_topic_partition_list_t *unanswered_partitions;
  int is_leaving;
  int has_subscribed;
  int has_been_assigned;  // if only to nothing: the group's assignor has run
  ck_undelivered *undelivered;  // with a tag, and not taken yet; the event thread's
  size_t undelivered_count, undelivered_capacity;
  _Atomic uint64_t delivery_failures;
  _Atomic int32_t delivery_failure_last;
};

void ck_rebalance_noted(ck_handle *handle, rd_kafka_t *client, rd_kafka_resp_err_t code,
                        const rd_kafka_topic_partition_list_t *partitions);
void ck_rebalance_forget(ck_handle *handle);

#endif

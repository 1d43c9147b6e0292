#ifndef CKafka_h
#define CKafka_h

#include <librdkafka/rdkafka.h>
// Only the tests use the mock cluster.
#include <librdkafka/rdkafka_mock.h>
#include <stddef.h>
#include <stdint.h>

// librdkafka as Swift can use it. Whatever Swift imports well is called directly; what stands here
// is only what Swift cannot call (variadics, C callbacks that need a C context), or what would cost
// an allocation or a call per record if it were done there.

// --- Batches -----------------------------------------------------------------------------------
// librdkafka hands out an array of pointers to its own messages. Walking it from Swift is a pointer
// chase and several field reads through an imported struct per record; one C call flattens a batch.

// One record, or (error != 0) one consumer event. `key` and `value` are null for null ones and point
// somewhere for empty ones. Borrowed from `message`, which lives until ck_batch_release.
typedef struct ck_record {
  const void *key;
  const void *value;
  rd_kafka_message_t *message;
  size_t key_size;
  size_t value_size;
  int64_t offset;
  int64_t timestamp_ms;
  int32_t partition;
  int32_t error;
} ck_record;

typedef struct ck_batch ck_batch;

ck_batch *ck_batch_new(size_t records_max);
// The batch must have been released.
void ck_batch_free(ck_batch *batch);
// Waits up to timeout_ms for a first record, then takes what is there without waiting. librdkafka's
// own call waits until the array is full or the time is up, which on a quiet topic adds the whole
// time-out to every record's latency.
size_t ck_batch_poll(ck_batch *batch, rd_kafka_queue_t *queue, int timeout_ms);
const ck_record *ck_batch_records(const ck_batch *batch);
void ck_batch_release(ck_batch *batch);

// --- Handles -----------------------------------------------------------------------------------
// A handle and what its callbacks need. No callback runs on a thread of librdkafka's: logs, errors,
// statistics and delivery reports come as events of the main queue, the rebalance callback from
// inside the poll of the thread that owns the handle.

typedef struct ck_handle ck_handle;

// Takes conf, also on failure (rd_kafka_new takes it only on success, an easy leak). Null on
// failure, with the reason in error_text.
ck_handle *ck_open(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *error_text,
                   size_t error_text_size);
rd_kafka_t *ck_client(const ck_handle *handle);
// Null on a producer.
rd_kafka_queue_t *ck_consumer_queue(const ck_handle *handle);
// Frees the queues, then destroys the client: librdkafka blocks in destroy for as long as a queue
// is referenced. Does not destroy a consumer that joined a group and was never given an assignment,
// where librdkafka is older than 2.3: it would fail an assertion on the cooperative assignor's
// missing state (librdkafka issue 4312). That happens to a worker stopped while its group waits for
// others; it is about to exit, and what it leaves goes with the process.
void ck_close(ck_handle *handle);

typedef enum ck_event_kind {
  CK_EVENT_NONE = 0,
  CK_EVENT_LOG,    // code: syslog level; text: "FACILITY: message"
  CK_EVENT_ERROR,  // code: rd_kafka_resp_err_t
  CK_EVENT_STATISTICS,
} ck_event_kind;

typedef struct ck_event {
  ck_event_kind kind;
  int32_t code;
  // Valid until the next call on the same handle.
  const char *text;
  const char *facility;
} ck_event;

// The next event of the main queue. Delivery reports are counted here and never surface: with
// delivery.report.only.error they are failures, and what failed is redone as a whole, or, of records
// with a tag, each by itself.
ck_event_kind ck_next_event(ck_handle *handle, ck_event *event);

// Records whose delivery failed since the handle was opened, and the newest code of one.
uint64_t ck_delivery_failures(const ck_handle *handle);
int32_t ck_delivery_failure_last(const ck_handle *handle);

// One record that was produced with a tag and was not delivered.
typedef struct ck_undelivered {
  uintptr_t tag;
  int32_t error;
} ck_undelivered;

// Those since the last call; returns how many. They are valid until the next event is taken, by the
// thread that takes events, which alone may call this.
size_t ck_take_undelivered(ck_handle *handle, const ck_undelivered **out);

// --- Rebalances --------------------------------------------------------------------------------
// The callback only notes what happened: commit, abort and the fetch of offsets block, and belong
// to the loop, outside a callback that runs in the middle of a batch call. librdkafka waits for the
// *_assign or *_unassign call, whenever it comes, and sends no other rebalance before it.

typedef enum ck_rebalance_kind {
  CK_REBALANCE_NONE = 0,
  CK_REBALANCE_ASSIGN,
  CK_REBALANCE_REVOKE,
  CK_REBALANCE_LOST,
} ck_rebalance_kind;

// Joins the client's group for one topic. Fails only for names it cannot use.
rd_kafka_resp_err_t ck_subscribe(ck_handle *handle, const char *topic);
// The next one noted, in order; the caller owns *partitions.
ck_rebalance_kind ck_rebalance_next(ck_handle *handle, rd_kafka_topic_partition_list_t **partitions);
// Answers one: incrementally under a cooperative assignor, as a whole under an eager one. Null on
// success.
rd_kafka_error_t *ck_rebalance_assign(ck_handle *handle,
                                      const rd_kafka_topic_partition_list_t *partitions);
rd_kafka_error_t *ck_rebalance_unassign(ck_handle *handle,
                                        const rd_kafka_topic_partition_list_t *partitions);
// Leaves the group and waits for it. From here on rebalances are answered by the callback, and one
// that was noted and not answered is answered here: librdkafka's close waits for every answer, and
// there is no loop any more to give it.
rd_kafka_resp_err_t ck_consumer_leave(ck_handle *handle);

// --- Group membership --------------------------------------------------------------------------
// librdkafka 2.0 has no accessor for a group generation; its serialised metadata has a documented
// magic and is the only way to it. False where there is no membership, or an unknown form.
// member_id is cut to its size and always terminated.
int ck_group_member(rd_kafka_t *client, const char *group_id, int32_t *generation, char *member_id,
                    size_t member_id_size);

// --- Producing ---------------------------------------------------------------------------------
typedef struct ck_bytes {
  const void *base;  // null: absent
  size_t size;
} ck_bytes;

// The headers that a record made from `source` carries, as bytes to keep: all but those named
// outcome, reason and notification_id, which are the gate's to say. Returns how many bytes they are;
// writes them to `out` where that is no more than `capacity`.
size_t ck_kept_headers(const rd_kafka_message_t *source, void *out, size_t capacity);

// rd_kafka_producev with the arguments a decision has. Carried are the headers of `source`, as above,
// or where that is null those in `kept`; the gate's own three are set here. Copies key, value and
// headers.
rd_kafka_resp_err_t ck_produce_decision(rd_kafka_t *client, rd_kafka_topic_t *topic,
                                        int32_t partition, ck_bytes key, ck_bytes value,
                                        const rd_kafka_message_t *source, ck_bytes kept,
                                        ck_bytes outcome, ck_bytes reason,
                                        ck_bytes notification_id);

// A plain record. A null value is a tombstone. partition may be RD_KAFKA_PARTITION_UA. timestamp_ms 0:
// now. A tag other than 0 names the record where it is not delivered (ck_take_undelivered).
rd_kafka_resp_err_t ck_produce(rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition,
                               ck_bytes key, ck_bytes value, rd_kafka_headers_t *headers,
                               int64_t timestamp_ms, uintptr_t tag);

#endif

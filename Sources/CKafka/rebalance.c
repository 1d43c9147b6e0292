#include "handle.h"

#include <stdlib.h>
#include <string.h>

static int is_cooperative(rd_kafka_t *client) {
  const char *protocol = rd_kafka_rebalance_protocol(client);
  return protocol && !strcmp(protocol, "COOPERATIVE");
}

rd_kafka_resp_err_t ck_subscribe(ck_handle *handle, const char *topic) {
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t code = rd_kafka_subscribe(handle->client, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  handle->has_subscribed = 1;
  return code;
}

static void forget_unanswered(ck_handle *handle) {
  handle->unanswered = CK_REBALANCE_NONE;
  if (handle->unanswered_partitions)
    rd_kafka_topic_partition_list_destroy(handle->unanswered_partitions);
  handle->unanswered_partitions = NULL;
}

static rd_kafka_error_t *error_of(rd_kafka_resp_err_t code, const char *call) {
  return code ? rd_kafka_error_new(code, "%s: %s", call, rd_kafka_err2str(code)) : NULL;
}

rd_kafka_error_t *ck_rebalance_assign(ck_handle *handle,
                                      const rd_kafka_topic_partition_list_t *partitions) {
  forget_unanswered(handle);
  if (is_cooperative(handle->client))
    return rd_kafka_incremental_assign(handle->client, partitions);
  return error_of(rd_kafka_assign(handle->client, partitions), "assign");
}

rd_kafka_error_t *ck_rebalance_unassign(ck_handle *handle,
                                        const rd_kafka_topic_partition_list_t *partitions) {
  forget_unanswered(handle);
  if (is_cooperative(handle->client))
    return rd_kafka_incremental_unassign(handle->client, partitions);
  return error_of(rd_kafka_assign(handle->client, NULL), "unassign");
}

// Takes nothing and gives up everything.
static void refuse(ck_handle *handle, ck_rebalance_kind kind,
                   const rd_kafka_topic_partition_list_t *partitions) {
  rd_kafka_topic_partition_list_t *answer = kind == CK_REBALANCE_ASSIGN
                                                ? rd_kafka_topic_partition_list_new(0)
                                                : rd_kafka_topic_partition_list_copy(partitions);
  rd_kafka_error_t *error = kind == CK_REBALANCE_ASSIGN ? ck_rebalance_assign(handle, answer)
                                                        : ck_rebalance_unassign(handle, answer);
  // Nothing is left to do about it: librdkafka logs it, and close goes on without the group.
  if (error) rd_kafka_error_destroy(error);
  rd_kafka_topic_partition_list_destroy(answer);
}

void ck_rebalance_noted(ck_handle *handle, rd_kafka_t *client, rd_kafka_resp_err_t code,
                        const rd_kafka_topic_partition_list_t *partitions) {
  ck_rebalance_kind kind = CK_REBALANCE_ASSIGN;
  if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
    kind = rd_kafka_assignment_lost(client) ? CK_REBALANCE_LOST : CK_REBALANCE_REVOKE;
  else
    handle->has_been_assigned = 1;
  if (handle->is_leaving) {
    refuse(handle, kind, partitions);
    return;
  }
  ck_rebalance *note = calloc(1, sizeof *note);
  if (!note) abort();
  note->kind = kind;
  note->partitions = rd_kafka_topic_partition_list_copy(partitions);
  if (!handle->last_rebalance) handle->last_rebalance = &handle->first_rebalance;
  *handle->last_rebalance = note;
  handle->last_rebalance = &note->next;
  forget_unanswered(handle);
  handle->unanswered = kind;
  handle->unanswered_partitions = rd_kafka_topic_partition_list_copy(partitions);
}

ck_rebalance_kind ck_rebalance_next(ck_handle *handle,
                                    rd_kafka_topic_partition_list_t **partitions) {
  ck_rebalance *note = handle->first_rebalance;
  if (!note) return CK_REBALANCE_NONE;
  handle->first_rebalance = note->next;
  if (!note->next) handle->last_rebalance = NULL;
  ck_rebalance_kind kind = note->kind;
  *partitions = note->partitions;
  free(note);
  return kind;
}

void ck_rebalance_forget(ck_handle *handle) {
  rd_kafka_topic_partition_list_t *partitions;
  while (ck_rebalance_next(handle, &partitions)) rd_kafka_topic_partition_list_destroy(partitions);
  forget_unanswered(handle);
}

rd_kafka_resp_err_t ck_consumer_leave(ck_handle *handle) {
  handle->is_leaving = 1;
  if (handle->unanswered) {
    rd_kafka_topic_partition_list_t *partitions =
        rd_kafka_topic_partition_list_copy(handle->unanswered_partitions);
    refuse(handle, handle->unanswered, partitions);
    rd_kafka_topic_partition_list_destroy(partitions);
  }
  ck_rebalance_forget(handle);
  return rd_kafka_consumer_close(handle->client);
}

int ck_group_member(rd_kafka_t *client, const char *group_id, int32_t *generation, char *member_id,
                    size_t member_id_size) {
  static const char magic[] = "CGMDv2:";
  const size_t magic_size = sizeof magic - 1;
  rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata(client);
  if (!metadata) return 0;
  void *form = NULL;
  size_t size = 0;
  rd_kafka_error_t *error = rd_kafka_consumer_group_metadata_write(metadata, &form, &size);
  rd_kafka_consumer_group_metadata_destroy(metadata);
  if (error) {
    rd_kafka_error_destroy(error);
    return 0;
  }
  // magic, generation (host order), group id NUL, member id NUL, …
  int known = 0;
  const size_t group_at = magic_size + sizeof *generation;
  const size_t member_at = group_at + strlen(group_id) + 1;
  if (size > member_at && !memcmp(form, magic, magic_size) &&
      !memcmp((char *)form + group_at, group_id, member_at - group_at)) {
    const char *member = (char *)form + member_at;
    const size_t length = strnlen(member, size - member_at);
    if (length < size - member_at && length < member_id_size) {
      memcpy(generation, (char *)form + magic_size, sizeof *generation);
      memcpy(member_id, member, length + 1);
      known = 1;
    }
  }
  rd_kafka_mem_free(client, form);
  return known;
}

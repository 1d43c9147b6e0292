#include "floor.h"

#include <stdio.h>

enum { batchMax = 1000 };

// Set as the gate's own reader of its preferences is.
static rd_kafka_t *newReader(const char *bootstrap) {
  char error[512];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "group.id", "floor.read");
  set(conf, "enable.auto.commit", "false");
  set(conf, "isolation.level", "read_committed");
  set(conf, "enable.partition.eof", "true");
  set(conf, "queued.max.messages.kbytes", "262144");
  rd_kafka_t *reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!reader) fail("consumer", error);
  rd_kafka_poll_set_consumer(reader);
  return reader;
}

static int assignAll(rd_kafka_t *reader, const char *topic) {
  const struct rd_kafka_metadata *metadata;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(reader, topic, NULL);
  rd_kafka_resp_err_t code = rd_kafka_metadata(reader, 0, handle, &metadata, 10000);
  if (code) fail("metadata", rd_kafka_err2str(code));
  int count = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  rd_kafka_topic_destroy(handle);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
  for (int partition = 0; partition < count; partition++)
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
  code = rd_kafka_assign(reader, list);
  if (code) fail("assign", rd_kafka_err2str(code));
  rd_kafka_topic_partition_list_destroy(list);
  return count;
}

void readTopic(const char *bootstrap, const char *topic) {
  rd_kafka_t *reader = newReader(bootstrap);
  int open = assignAll(reader, topic);
  double startWall = seconds(), startCpu = cpuSeconds();
  rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(reader);
  rd_kafka_message_t *messages[batchMax];
  long records = 0;
  while (open > 0) {
    ssize_t count = rd_kafka_consume_batch_queue(queue, 20, messages, batchMax);
    if (count < 0) fail("consume", rd_kafka_err2str(rd_kafka_last_error()));
    for (ssize_t i = 0; i < count; i++) {
      if (messages[i]->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        open--;
      else if (messages[i]->err)
        fail("consume", rd_kafka_message_errstr(messages[i]));
      else
        records++;
      rd_kafka_message_destroy(messages[i]);
    }
  }
  printf("{\"records\":%ld,\"seconds\":%.4f,\"cpu_seconds\":%.4f}\n", records,
         seconds() - startWall, cpuSeconds() - startCpu);
  rd_kafka_queue_destroy(queue);
  rd_kafka_consumer_close(reader);
  rd_kafka_destroy(reader);
}

// The floor: what passing records through Kafka costs when nothing is decided. Reads a topic, writes
// for each record as many outputs of as many bytes as the gate did, to the same topics, partitions
// and headers, and commits alike. Bare C on librdkafka; everything the gate costs beyond this is its
// own.
#include "floor.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { batchMax = 1000, partitionsMax = 1024, topicCount = 3, samplesMax = 20000 };

static const char *bootstrap = "127.0.0.1:9092", *group = "floor", *input, *state;
static const char *outputNames[topicCount];
static const char *samplesFile;
static long expected = 0, outputsPerThousand = 1000, statesPerThousand = 0;
static long sharePerThousand[topicCount] = {500, 0, 500};
static int isReading = 0, transactional = 1, commitIntervalMs = 100;

static void check(rd_kafka_error_t *error, const char *where) {
  if (error) fail(where, rd_kafka_error_string(error));
}

static rd_kafka_t *newConsumer(void) {
  char error[512];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "group.id", group);
  set(conf, "enable.auto.commit", "false");
  set(conf, "isolation.level", "read_committed");
  set(conf, "auto.offset.reset", "earliest");
  set(conf, "partition.assignment.strategy", "cooperative-sticky");
  set(conf, "queued.max.messages.kbytes", "262144");
  set(conf, "queued.min.messages", "1000000");
  rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!consumer) fail("consumer", error);
  rd_kafka_poll_set_consumer(consumer);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, input, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t code = rd_kafka_subscribe(consumer, topics);
  if (code) fail("subscribe", rd_kafka_err2str(code));
  rd_kafka_topic_partition_list_destroy(topics);
  return consumer;
}

static rd_kafka_t *newProducer(void) {
  char error[512];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "enable.idempotence", "true");
  set(conf, "linger.ms", "5");
  set(conf, "compression.codec", "lz4");
  set(conf, "queue.buffering.max.messages", "1000000");
  set(conf, "delivery.report.only.error", "true");
  if (transactional) {
    set(conf, "transactional.id", group);
    set(conf, "transaction.timeout.ms", "10000");
    set(conf, "message.timeout.ms", "9000");
  }
  rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  if (!producer) fail("producer", error);
  if (transactional) check(rd_kafka_init_transactions(producer, 30000), "init_transactions");
  return producer;
}

// Values the gate wrote for the same candidates, so that the bytes, and how well they compress, are
// the same.
struct sample {
  char *bytes;
  size_t size;
};
static struct sample samples[samplesMax];
static long sampleCount = 0;

static void readSamples(void) {
  FILE *file = fopen(samplesFile, "r");
  if (!file) fail(samplesFile, "cannot be read");
  size_t capacity = 0;
  ssize_t size;
  while (sampleCount < samplesMax) {
    struct sample *sample = &samples[sampleCount];
    capacity = 0;
    if ((size = getline(&sample->bytes, &capacity, file)) <= 1) break;
    sample->size = (size_t)size - 1;
    sampleCount++;
  }
  fclose(file);
  if (sampleCount == 0) fail(samplesFile, "has no line");
}

static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, const char *name,
                    const rd_kafka_message_t *message, const struct sample *sample) {
  rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
  rd_kafka_header_add(headers, "outcome", -1, "approved", 8);
  rd_kafka_header_add(headers, "reason", -1, "ok", 2);
  rd_kafka_header_add(headers, "notification_id", -1, name, -1);
  for (;;) {
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(message->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(message->key, message->key_len),
        RD_KAFKA_V_VALUE(sample->bytes, sample->size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_END);
    if (!code) return;
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("produce", rd_kafka_err2str(code));
    rd_kafka_poll(producer, 10);
  }
}

// What the gate remembers of a decision: a short record of its own, without headers.
static void produceState(rd_kafka_t *producer, rd_kafka_topic_t *topic,
                         const rd_kafka_message_t *message, long number) {
  static const char value[] = "{\"at\":\"2026-03-09T22:30:00.000Z\",\"outcome\":\"approved\"}";
  char key[512];
  size_t size = message->key_len < 128 ? message->key_len : 128;
  memcpy(key, message->key, size);
  key[size++] = 0;
  size += (size_t)snprintf(key + size, 64, "%036ld", number) + 1;
  size += (size_t)snprintf(key + size, 64, "%020ld", number);
  for (;;) {
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(message->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, size),
        RD_KAFKA_V_VALUE((void *)value, sizeof value - 1), RD_KAFKA_V_END);
    if (!code) return;
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("produce", rd_kafka_err2str(code));
    rd_kafka_poll(producer, 10);
  }
}

// By looking, as the gate does, and not by rd_kafka_flush, which keeps librdkafka's broker thread
// spinning while it waits: the floor is to be as low as it can be.
static void waitForAcknowledgements(rd_kafka_t *producer) {
  double until = seconds() + 30;
  while (rd_kafka_poll(producer, 0), rd_kafka_outq_len(producer) > 0) {
    if (seconds() > until) fail("flush", "not acknowledged within 30 s");
    usleep(500);
  }
}

static void commit(rd_kafka_t *consumer, rd_kafka_t *producer, const int64_t *next) {
  rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(8);
  for (int partition = 0; partition < partitionsMax; partition++)
    if (next[partition] >= 0)
      rd_kafka_topic_partition_list_add(offsets, input, partition)->offset = next[partition];
  waitForAcknowledgements(producer);
  if (transactional) {
    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata(consumer);
    check(rd_kafka_send_offsets_to_transaction(producer, offsets, metadata, 30000), "send offsets");
    rd_kafka_consumer_group_metadata_destroy(metadata);
    check(rd_kafka_commit_transaction(producer, 30000), "commit");
    check(rd_kafka_begin_transaction(producer), "begin");
  } else {
    rd_kafka_resp_err_t code = rd_kafka_commit(consumer, offsets, 0);
    if (code) fail("commit", rd_kafka_err2str(code));
  }
  rd_kafka_topic_partition_list_destroy(offsets);
}

static void readArguments(int argc, char **argv) {
  int flag;
  while ((flag = getopt(argc, argv, "b:g:i:a:d:x:n:f:r:s:p:t:q:m:c:")) != -1) switch (flag) {
      case 'b': bootstrap = optarg; break;
      case 'g': group = optarg; break;
      case 'i': input = optarg; break;
      case 'a': outputNames[0] = optarg; break;
      case 'd': outputNames[1] = optarg; break;
      case 'x': outputNames[2] = optarg; break;
      case 'n': expected = atol(optarg); break;
      case 'f': samplesFile = optarg; break;
      case 'r': outputsPerThousand = atol(optarg); break;
      case 's': sharePerThousand[0] = atol(optarg); break;
      case 'p': sharePerThousand[1] = atol(optarg); break;
      case 't': state = optarg; break;
      case 'q': statesPerThousand = atol(optarg); break;
      case 'm':
        isReading = !strcmp(optarg, "read");
        transactional = strcmp(optarg, "at_least_once") != 0;
        break;
      case 'c': commitIntervalMs = atoi(optarg); break;
      default:
        fail("usage",
             "-b BOOTSTRAP -g GROUP -i INPUT -a APPROVED -d DEFERRED -x DROPPED -n RECORDS "
             "-f SAMPLES -r OUTPUTS_PER_1000 -s APPROVED_PER_1000 -p DEFERRED_PER_1000 "
             "-t STATE -q STATES_PER_1000 -m exactly_once|at_least_once|read -c COMMIT_INTERVAL_MS");
    }
  if (!input) fail("usage", "an input is needed");
  if (isReading) return;
  if (!state || !outputNames[0] || !outputNames[1] || !outputNames[2] || !samplesFile || expected <= 0)
    fail("usage", "three outputs, a state topic, samples and the number of records are needed");
  readSamples();
}

int main(int argc, char **argv) {
  readArguments(argc, argv);
  if (isReading) {
    readTopic(bootstrap, input);
    return 0;
  }
  rd_kafka_t *producer = newProducer(), *consumer = newConsumer();
  rd_kafka_topic_t *topics[topicCount], *stateTopic = rd_kafka_topic_new(producer, state, NULL);
  for (int i = 0; i < topicCount; i++) topics[i] = rd_kafka_topic_new(producer, outputNames[i], NULL);
  rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(consumer);
  int64_t next[partitionsMax];
  for (int i = 0; i < partitionsMax; i++) next[i] = -1;
  rd_kafka_message_t *messages[batchMax];
  long records = 0, outputs = 0, owed = 0, statesOwed = 0;
  size_t bytes = 0;
  double startWall = 0, startCpu = 0, lastCommit = seconds();
  int pending = 0;
  if (transactional) check(rd_kafka_begin_transaction(producer), "begin");
  while (records < expected) {
    ssize_t count = rd_kafka_consume_batch_queue(queue, 20, messages, batchMax);
    if (count < 0) fail("consume", rd_kafka_err2str(rd_kafka_last_error()));
    for (ssize_t i = 0; i < count; i++) {
      rd_kafka_message_t *message = messages[i];
      if (message->err) fail("consume", rd_kafka_message_errstr(message));
      if (records++ == 0) startWall = seconds(), startCpu = cpuSeconds();
      next[message->partition] = message->offset + 1;
      for (owed += outputsPerThousand; owed >= 1000; owed -= 1000, outputs++) {
        long turn = (outputs * 7919) % 1000;
        int to = turn < sharePerThousand[0] ? 0 : turn < sharePerThousand[0] + sharePerThousand[1] ? 1 : 2;
        const struct sample *sample = &samples[outputs % sampleCount];
        bytes += sample->size;
        produce(producer, topics[to], "0f8fad5b-d9cb-469f-a165-70867728950e", message, sample);
      }
      for (statesOwed += statesPerThousand; statesOwed >= 1000; statesOwed -= 1000)
        produceState(producer, stateTopic, message, records);
      rd_kafka_message_destroy(message);
      pending = 1;
    }
    rd_kafka_poll(producer, 0);
    if (pending && (seconds() - lastCommit) * 1000 >= commitIntervalMs) {
      commit(consumer, producer, next);
      lastCommit = seconds(), pending = 0;
    }
  }
  if (pending) commit(consumer, producer, next);
  double wall = seconds() - startWall, cpu = cpuSeconds() - startCpu;
  printf("{\"records\":%ld,\"outputs\":%ld,\"output_bytes\":%zu,\"seconds\":%.4f,\"cpu_seconds\":%.4f}\n",
         records, outputs, bytes, wall, cpu);
  if (transactional) rd_kafka_abort_transaction(producer, 10000);
  for (int i = 0; i < topicCount; i++) rd_kafka_topic_destroy(topics[i]);
  rd_kafka_topic_destroy(stateTopic);
  rd_kafka_queue_destroy(queue);
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  rd_kafka_destroy(producer);
  return 0;
}

#ifndef floor_h
#define floor_h

#include <librdkafka/rdkafka.h>

// Ends the program.
void fail(const char *where, const char *what);
void set(rd_kafka_conf_t *conf, const char *key, const char *value);
double seconds(void);
// Of the whole process, librdkafka's threads included.
double cpuSeconds(void);

// Reads a topic from its beginning to its end and does nothing with it: what a restore could cost at
// the least. Prints what it took.
void readTopic(const char *bootstrap, const char *topic);

#endif

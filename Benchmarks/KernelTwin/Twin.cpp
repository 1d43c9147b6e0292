#include "Twin.h"

#include "Encode.h"

namespace {
constexpr size_t batchMax = 64;

struct Work {
  Candidate candidate;
  Hash hash;
  const Block *block;
  uint8_t rejection;
};

struct Draft {
  Outcome outcome;
  uint8_t reason;
  size_t key, value, end, input;
};

// Kafka's murmur2, by which producers choose partitions.
uint32_t murmur2(Text text) {
  const uint32_t multiplier = 0x5BD1E995;
  uint32_t hash = 0x9747B28C ^ uint32_t(text.size());
  size_t at = 0;
  for (; at + 4 <= text.size(); at += 4) {
    uint32_t word;
    memcpy(&word, text.data() + at, 4);
    word *= multiplier;
    hash = (hash * multiplier) ^ ((word ^ (word >> 24)) * multiplier);
  }
  if (at < text.size()) {
    for (size_t i = at; i < text.size(); i++) hash ^= uint32_t(uint8_t(text[i])) << ((i - at) * 8);
    hash *= multiplier;
  }
  hash = (hash ^ (hash >> 13)) * multiplier;
  return hash ^ (hash >> 15);
}
}  // namespace

struct twin {
  Zones zones;
  DocumentReader documents{zones};
  Table table;
  Deciding deciding;
  Encoder encoder;
  int64_t partitions;
  std::array<CandidateReader, batchMax> readers;  // each keeps its record's texts
  std::array<Work, batchMax> work;
  std::vector<Draft> drafts;
  std::vector<twin_output> outputs;
  Writer out;

  twin(int64_t nowMs, int64_t partitions) : deciding(zones, nowMs), partitions(partitions) {}

  void read(const twin_record &record, size_t i) {
    Work &at = work[i];
    at.candidate = readers[i].read(record.value, record.value_size);
    Text key(reinterpret_cast<const char *>(record.key), record.key_size);
    if (key != at.candidate.userID) stop("another key");
    if (int64_t(murmur2(key) & 0x7FFFFFFF) % partitions != record.partition) stop("another partition");
    at.rejection = deciding.rejection(at.candidate);
    at.block = nullptr;
    if (at.rejection != noReason) return;
    at.hash = hashOf(at.candidate.userID);
    table.prefetch(at.hash);
  }

  void write(const Decision &decision, const Work &at, Text deviceID, const Block *block, size_t i,
             const twin_record &record) {
    size_t key = out.count;
    if (decision.outcome == deferred) {
      out.reserve(512);
      out.raw(at.candidate.userID), out.byte(0);
      out.raw(at.candidate.notificationID), out.byte(0);
      out.raw(deviceID);
    }
    size_t value = out.count;
    encoder.write(decision, at.candidate, deviceID, block, zones,
                  Text(reinterpret_cast<const char *>(record.value), record.value_size), out);
    drafts.push_back({decision.outcome, decision.reason, key, value, out.count, i});
  }

  void drop(uint8_t reason, const Work &at, const Block *block, size_t i, const twin_record &record) {
    Decision decision;
    decision.reason = reason, decision.blocked = 1u << reason;
    write(decision, at, at.candidate.deviceID, block, i, record);
  }

  void decide(const twin_record &record, size_t i) {
    const Work &at = work[i];
    if (at.rejection != noReason) return drop(at.rejection, at, nullptr, i, record);
    const Block *block = at.block;
    if (!block || block->hashRest != at.hash.high) return drop(unknownUser, at, nullptr, i, record);
    bool isKnown = false;
    for (size_t device = 0; device < block->devices; device++) {
      Text id = block->text(block->device(device)->id, block->device(device)->idBytes);
      if (at.candidate.deviceID.data() && id != at.candidate.deviceID) continue;
      isKnown = true;
      write(deciding.decide(at.candidate, *block, device), at, id, block, i, record);
      if (at.candidate.deviceID.data()) break;
    }
    if (!isKnown) drop(at.candidate.deviceID.data() ? 8 : 9, at, block, i, record);
  }

  void finish() {
    outputs.clear();
    auto bytes = [&](size_t at) { return reinterpret_cast<const uint8_t *>(out.base + at); };
    for (const Draft &draft : drafts) {
      const Candidate &candidate = work[draft.input].candidate;
      bool isHold = draft.value > draft.key;
      outputs.push_back(
          {isHold ? bytes(draft.key) : reinterpret_cast<const uint8_t *>(candidate.userID.data()),
           bytes(draft.value), isHold ? draft.value - draft.key : candidate.userID.size(),
           draft.end - draft.value,
           reinterpret_cast<const uint8_t *>(candidate.notificationID.data()),
           candidate.notificationID.size(), draft.outcome, draft.reason});
    }
  }
};

twin *twin_new(int64_t now_ms, int64_t partitions, const char *policy_version,
               const char *tzdb_version, const char *gate_version) {
  auto *made = new twin(now_ms, partitions);
  made->encoder.policyVersion = policy_version;
  made->encoder.tzdbVersion = tzdb_version;
  made->encoder.gateVersion = gate_version;
  return made;
}

void twin_zone(twin *twin, const char *name, const int64_t *until, const int64_t *offsets,
               int64_t count) {
  Zone zone;
  zone.name = name;
  for (int64_t i = 0; i < count; i++)
    zone.until.push_back(until[i]), zone.offsets.push_back(int32_t(offsets[i]));
  twin->zones.all.push_back(zone);
  twin->deciding.fallback = twin->zones.find("UTC");
}

void twin_reserve(twin *twin, int64_t users) { twin->table.reserve(size_t(users)); }

void twin_apply(twin *twin, const uint8_t *document, int64_t size) {
  std::string user;
  const auto &words = twin->documents.read(document, size_t(size), user);
  twin->table.put(user, words);
}

const twin_output *twin_decide(twin *twin, const twin_record *records, int64_t count,
                               int64_t *output_count) {
  if (count > int64_t(batchMax)) stop("a batch of at most 64 records");
  twin->out.count = 0;
  twin->drafts.clear();
  for (int64_t i = 0; i < count; i++) twin->read(records[i], size_t(i));
  for (int64_t i = 0; i < count; i++)
    if (twin->work[size_t(i)].rejection == noReason)
      twin->work[size_t(i)].block = twin->table.find(twin->work[size_t(i)].hash);
  twin->encoder.startBatch(twin->deciding.nowMs);
  for (int64_t i = 0; i < count; i++) twin->decide(records[i], size_t(i));
  twin->finish();
  *output_count = int64_t(twin->outputs.size());
  return twin->outputs.data();
}

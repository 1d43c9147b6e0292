#pragma once
#include "Document.h"

enum Outcome : uint8_t { approved, deferred, dropped };

// In the order of the decision table, as far as the workload goes.
enum Reason : uint8_t {
  unknownUser = 6,
  noGdprConsent = 14,
  accountOptedOut,
  deviceOptedOut,
  subtypeMuted,
  categoryDefaultOff,
  osPermissionDenied,
  tokenRevoked,
  tokenExpired,
  quietHoursDropped,
  expiresInQuietHours,
  quietHoursDeferred = 25,
  released,
  quietHoursBypassed,
  ok,
  noReason = 255
};

extern const Text reasonNames[30];

// What the policy says of an event or subtype.
struct Facts {
  uint8_t registered = 0, passesChoice = 0, passesQuiet = 0;
  bool critical = false;
};

Facts factsOf(Text name);

struct Decision {
  Outcome outcome = dropped;
  uint8_t reason = noReason;
  uint32_t blocked = 0;
  const Device *device = nullptr;
  uint8_t accountChoice = 0, deviceChoice = 0, suppression = 255, interruption = 1;
  bool effective = false, isInside = false, hasWindow = false, invalidWindow = false;
  uint8_t zoneSource = 0;
  uint16_t zone = 0;
  Place window;
  int64_t endsAtMs = -1, deliverAfterMs = -1, sendBeforeMs = -1;
};

class Deciding {
 public:
  const Zones &zones;
  int64_t nowMs;
  uint16_t fallback;
  std::vector<bool> regulated;

  Deciding(const Zones &zones, int64_t nowMs);

  // Rows 1 to 4.
  uint8_t rejection(const Candidate &candidate) const;
  Decision decide(const Candidate &candidate, const Block &block, size_t device) const;

 private:
  void quiet(const Place &account, const Place &device, Decision &to) const;
  bool hasConsent(const Block &block, uint8_t category, size_t device) const;
  bool isMuted(const Block &block, uint8_t category, size_t device, Text subtype) const;
};

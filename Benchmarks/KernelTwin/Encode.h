#pragma once
#include "Decide.h"
#include "Writer.h"

// Writes the records of the output topics.
class Encoder {
 public:
  std::string policyVersion, tzdbVersion, gateVersion;

  void startBatch(int64_t nowMs) {
    shared.count = 0;
    shared.reserve(1024);
    shared.raw(",\"decided_at\":"), shared.instant(nowMs);
    shared.raw(",\"policy_version\":"), shared.string(policyVersion);
    shared.raw(",\"preference_version\":");
    split = shared.count;
    shared.raw(",\"tzdb_version\":"), shared.string(tzdbVersion);
    shared.raw(",\"gate_version\":"), shared.string(gateVersion);
    shared.raw(",\"evidence\":");
  }

  void write(const Decision &decision, const Candidate &candidate, Text deviceID, const Block *block,
             const Zones &zones, Text original, Writer &out) const {
    out.reserve(8192 + original.size());
    head(decision, candidate, deviceID, block, out);
    evidence(decision, zones, out);
    if (decision.outcome == approved) {
      static const Text names[] = {"passive", "active", "time-sensitive", "critical"};
      out.raw(",\"platform\":"), out.string(decision.device->platform ? "android" : "ios");
      out.raw(",\"interruption\":"), out.string(names[decision.interruption]);
      out.raw(",\"critical\":"), out.boolean(decision.interruption == 3);
      out.raw(",\"expires_at\":"), out.instant(candidate.expiresAtMs);
      out.raw(",\"send_before\":"), out.instant(decision.sendBeforeMs);
      out.raw(",\"collapse_key\":"), out.string(candidate.collapseKey);
      out.raw(",\"unsubscribe_url\":null,\"sms_fallback\":\"forbidden\"");
    } else if (decision.outcome == deferred) {
      out.raw(",\"deliver_after\":"), out.instant(decision.deliverAfterMs);
    }
    out.raw(",\"notification\":");
    out.raw(original);
    out.byte('}');
  }

 private:
  Writer shared;
  size_t split = 0;

  void head(const Decision &decision, const Candidate &candidate, Text deviceID, const Block *block,
            Writer &out) const {
    static const Text outcomes[] = {"approved", "deferred", "dropped"};
    out.raw("{\"outcome\":"), out.string(outcomes[decision.outcome]);
    out.raw(",\"reason\":"), out.string(reasonNames[decision.reason]);
    out.raw(",\"blocked_by\":[");
    for (uint32_t left = decision.blocked; left;) {
      out.string(reasonNames[__builtin_ctz(left)]);
      if (left &= left - 1) out.byte(',');
    }
    out.raw("],\"notification_id\":"), out.string(candidate.notificationID);
    out.raw(",\"user_id\":"), out.string(candidate.userID);
    out.raw(",\"device_id\":"), out.string(deviceID);
    out.raw(",\"category\":"), out.string(candidate.categoryText);
    out.raw(",\"subtype\":"), out.string(candidate.subtype);
    out.raw(Text(shared.base, split));
    if (block) {
      out.integer(block->version);
      out.raw(",\"preference_offset\":"), out.integer(block->offset);
    } else {
      out.raw("null,\"preference_offset\":null");
    }
    out.raw(Text(shared.base + split, shared.count - split));
  }

  void evidence(const Decision &decision, const Zones &zones, Writer &out) const {
    if (!decision.device)
      return out.raw(
          "{\"user_category_opt_in\":{\"account\":null,\"device\":null,\"effective\":null},"
          "\"os_permission\":null,\"device_token_status\":null,"
          "\"quiet_hours\":{\"start\":null,\"end\":null,\"timezone\":null,\"timezone_source\":null,"
          "\"in_window\":null,\"ends_at\":null},\"suppression_reason\":null}");
    static const Text choices[] = {"default", "user-on", "user-off"};
    static const Text permissions[] = {"granted", "denied", "provisional"};
    static const Text tokens[] = {"active", "expired", "revoked"};
    static const Text sources[] = {"device", "account", "fallback"};
    static const Text holds[] = {"legal_hold", "abuse_hold", "bounced"};
    out.raw("{\"user_category_opt_in\":{\"account\":"), out.string(choices[decision.accountChoice]);
    out.raw(",\"device\":"), out.string(choices[decision.deviceChoice]);
    out.raw(",\"effective\":"), out.boolean(decision.effective);
    out.raw("},\"os_permission\":"), out.string(permissions[decision.device->permission]);
    out.raw(",\"device_token_status\":"), out.string(tokens[decision.device->token]);
    out.raw(",\"quiet_hours\":{\"start\":");
    if (decision.hasWindow) {
      out.clock(decision.window.start);
      out.raw(",\"end\":"), out.clock(decision.window.end);
    } else {
      out.raw("null,\"end\":null");
    }
    out.raw(",\"timezone\":"), out.string(zones.all[decision.zone].name);
    out.raw(",\"timezone_source\":"), out.string(sources[decision.zoneSource]);
    out.raw(",\"in_window\":"), out.boolean(decision.isInside);
    out.raw(",\"ends_at\":"), out.instant(decision.endsAtMs);
    out.raw("},\"suppression_reason\":");
    decision.suppression == 255 ? out.raw("null") : out.string(holds[decision.suppression]);
    out.byte('}');
  }
};

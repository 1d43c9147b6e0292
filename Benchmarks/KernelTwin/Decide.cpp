#include "Decide.h"

const Text reasonNames[30] = {
    "invalid_candidate", "unknown_category", "category_mismatch", "payload_too_large",
    "critical_not_allowed", "expired", "unknown_user", "preferences_unreadable", "unknown_device",
    "no_devices", "duplicate", "suppressed_legal_hold", "suppressed_abuse_hold",
    "suppressed_bounced", "no_gdpr_consent", "account_opted_out", "device_opted_out",
    "subtype_muted", "category_default_off", "os_permission_denied", "token_revoked",
    "token_expired", "quiet_hours_dropped", "expires_in_quiet_hours", "frequency_capped",
    "quiet_hours_deferred", "released", "quiet_hours_bypassed", "ok", "superseded"};

namespace {
struct Names {
  struct Slot {
    Text name;
    Facts facts;
  };
  std::vector<Slot> slots{64};

  static size_t slot(Text name) {
    uint64_t word = 0;
    memcpy(&word, name.data(), std::min<size_t>(8, name.size()));
    return (word * 0x9E3779B97F4A7C15 + name.size() * 0xD6E8FEB86659FD93) >> 58;
  }

  void add(Category category, std::initializer_list<Text> names) {
    for (Text name : names) {
      size_t at = slot(name);
      while (slots[at].name.data()) at = (at + 1) % slots.size();
      slots[at] = {name, {uint8_t(1 << category), 0, 0, false}};
    }
  }

  Facts *find(Text name) {
    size_t at = slot(name);
    for (; slots[at].name.data(); at = (at + 1) % slots.size())
      if (slots[at].name == name) return &slots[at].facts;
    return nullptr;
  }

  Names() {
    add(transactional, {"order_shipped", "payment_succeeded", "payment_failed"});
    add(security, {"suspicious_login", "account_takeover_blocked", "2fa_code", "password_reset", "login_alert"});
    add(social, {"like", "comment", "mention", "follow"});
    add(marketing, {"announcement", "promotion", "winback"});
    find("payment_failed")->passesChoice = find("payment_failed")->passesQuiet = 1 << transactional;
    for (Text name : {"suspicious_login", "account_takeover_blocked", "2fa_code"}) find(name)->critical = true;
  }
} names;

const uint8_t quietRule[] = {1, 2, 0, 0};  // 0 drop, 1 defer, 2 bypass
const uint8_t dropsOnInvalid[] = {0, 0, 1, 1};
const uint8_t suppressionBlocks[] = {0xF, 0xD, 0xF};
}  // namespace

Facts factsOf(Text name) {
  Facts *facts = names.find(name);
  return facts ? *facts : Facts();
}

Deciding::Deciding(const Zones &zones, int64_t nowMs) : zones(zones), nowMs(nowMs), regulated(1024) {
  fallback = 0;
  const char *codes = "ATBEBGHRCYCZDKEEFIFRDEGRHUIEITLVLTLUMTNLPLPTROSKSIESSEISLINOGBAXGPMQGFREYTMF";
  for (; *codes; codes += 2) regulated[size_t((codes[0] - 64) << 5 | (codes[1] - 64))] = true;
  regulated[0] = true;
}

uint8_t Deciding::rejection(const Candidate &candidate) const {
  if (candidate.category == noCategory) return 1;
  for (Text name : {candidate.event, candidate.subtype}) {
    uint8_t registered = name.empty() ? 0 : factsOf(name).registered;
    if (registered && !(registered >> candidate.category & 1)) return 2;
  }
  if (candidate.payloadBytes > 4096) return 3;
  if (candidate.critical) return 4;
  if (candidate.expiresAtMs >= 0 && candidate.expiresAtMs <= nowMs) return 5;
  return noReason;
}

bool Deciding::hasConsent(const Block &block, uint8_t category, size_t device) const {
  for (size_t i = 0; i < block.sides; i++) {
    const Side &side = *block.side(i);
    if (side.kind == Side::consent && side.category == category &&
        (side.scope == accountScope || side.scope == device) && side.atMs <= nowMs)
      return true;
  }
  return false;
}

bool Deciding::isMuted(const Block &block, uint8_t category, size_t device, Text subtype) const {
  for (size_t i = 0; i < block.sides; i++) {
    const Side &side = *block.side(i);
    if (side.kind == Side::mute && side.category == category &&
        (side.scope == accountScope || side.scope == device) &&
        block.text(side.name, side.nameBytes) == subtype)
      return true;
  }
  return false;
}

void Deciding::quiet(const Place &account, const Place &device, Decision &to) const {
  to.zone = device.zone ? device.zone : account.zone ? account.zone : fallback;
  to.zoneSource = device.zone ? 0 : account.zone ? 1 : 2;
  const Place &stored = device.kind == absent ? account : device;
  if (stored.kind == invalid) to.invalidWindow = true;
  if (stored.kind != set) return;
  to.window = stored, to.hasWindow = true;
  WindowWalk walk(to.window, zones.all[to.zone], nowMs / 1000);
  to.isInside = walk.isInside();
  if (to.isInside) to.endsAtMs = walk.endMs();
}

Decision Deciding::decide(const Candidate &candidate, const Block &block, size_t index) const {
  const Device &device = *block.device(index);
  const uint8_t category = candidate.category;
  const Facts event = candidate.event.empty() ? Facts() : factsOf(candidate.event);
  const bool passesChoice = event.passesChoice >> category & 1;
  const bool passesQuiet = event.passesQuiet >> category & 1;
  const bool isRegulated = regulated[device.region];
  Decision to;
  to.device = &device;
  auto block_ = [&](uint8_t reason) { to.blocked |= 1u << reason; };

  uint8_t carried = block.suppressions | device.suppressions;
  for (uint8_t i = 0; carried && i < 3; i++)
    if (carried >> i & 1) {
      if (to.suppression == 255) to.suppression = i;
      if (suppressionBlocks[i] >> category & 1) block_(uint8_t(11 + i));
    }

  to.accountChoice = block.choices >> (category * 2) & 3;
  to.deviceChoice = device.choices >> (category * 2) & 3;
  const bool isOff = to.accountChoice == 2 || to.deviceChoice == 2;
  const bool isDefault = category != marketing || !isRegulated;
  to.effective = !isOff && (to.accountChoice == 1 || to.deviceChoice == 1 || isDefault);
  if (category == marketing && isRegulated && !isOff && !hasConsent(block, category, index))
    block_(noGdprConsent);
  if (!passesChoice) {
    if (to.accountChoice == 2) block_(accountOptedOut);
    if (to.deviceChoice == 2) block_(deviceOptedOut);
    if (category != security && !candidate.subtype.empty() &&
        isMuted(block, category, index, candidate.subtype))
      block_(subtypeMuted);
    if (!isOff && !to.effective) block_(categoryDefaultOff);
  }
  if (device.permission == 1) block_(osPermissionDenied);
  if (device.token == 2) block_(tokenRevoked);
  if (device.token == 1) block_(tokenExpired);

  quiet(block.place, device.place, to);
  const uint8_t rule = quietRule[category];
  if (!passesQuiet && rule != 2) {
    if (to.invalidWindow && dropsOnInvalid[category]) {
      block_(quietHoursDropped);
    } else if (to.isInside) {
      int64_t bound = nowMs + 72 * 3600000LL;
      int64_t until = to.endsAtMs < 0 ? bound : std::min(to.endsAtMs, bound);
      if (rule == 0)
        block_(quietHoursDropped);
      else if (candidate.expiresAtMs >= 0 && candidate.expiresAtMs <= until)
        block_(expiresInQuietHours);
      else
        to.deliverAfterMs = until;
    }
  }
  if (to.blocked) {
    to.reason = uint8_t(__builtin_ctz(to.blocked));
    return to;
  }
  if (to.deliverAfterMs >= 0) {
    to.outcome = deferred, to.reason = quietHoursDeferred;
    return to;
  }
  to.outcome = approved, to.reason = to.isInside ? quietHoursBypassed : ok;
  to.sendBeforeMs = candidate.expiresAtMs;
  if (rule != 2 && !passesQuiet && to.hasWindow) {
    int64_t start = WindowWalk(to.window, zones.all[to.zone], nowMs / 1000).nextStartMs();
    if (start >= 0 && (to.sendBeforeMs < 0 || start < to.sendBeforeMs)) to.sendBeforeMs = start;
  }
  if (device.permission == 2)
    to.interruption = 0;
  else if (category == security)
    to.interruption = 2;
  return to;
}

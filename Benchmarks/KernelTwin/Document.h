#pragma once
#include "Table.h"
#include "Zone.h"

// Preference documents into blocks; made before anything is measured.
class DocumentReader {
 public:
  explicit DocumentReader(const Zones &zones) : zones(zones) {}

  // The block's words, and the user in `user`.
  const std::vector<uint64_t> &read(const uint8_t *bytes, size_t size, std::string &user) {
    using namespace simdjson;
    dom::element root;
    if (parser.parse(bytes, size).get(root)) stop("a document cannot be read");
    Block block{};
    devices.clear(), sides.clear(), texts.clear();
    user = Text(root["user_id"]);
    if (root["version"].get(block.version)) stop("no version");
    common(root["account"], block.place, block.choices, block.suppressions, accountScope);
    for (dom::element from : root["devices"]) {
      Device device;
      Text id = from["device_id"];
      device.idBytes = uint8_t(id.size()), device.id = keep(id);
      device.platform = Text(from["platform"]) == "android";
      device.permission = one(from["os_permission"], {"granted", "denied", "provisional"});
      device.token = one(from["token_status"], {"active", "expired", "revoked"});
      Text region = from["region"];
      device.region = uint16_t((region[0] - 64) << 5 | (region[1] - 64));
      common(from, device.place, device.choices, device.suppressions, uint8_t(devices.size()));
      devices.push_back(device);
    }
    return pack(block);
  }

 private:
  const Zones &zones;
  simdjson::dom::parser parser;
  std::vector<Device> devices;
  std::vector<Side> sides;
  std::string texts;
  std::vector<uint64_t> words;

  uint32_t keep(Text text) {
    texts += text;
    return uint32_t(texts.size() - text.size());
  }

  static uint8_t one(Text text, std::initializer_list<Text> names) {
    uint8_t at = 0;
    for (Text name : names) {
      if (name == text) return at;
      at++;
    }
    stop("a value that the workload should not have");
  }

  static uint8_t categoryOf(Text name) {
    return one(name, {"transactional", "security", "social", "marketing"});
  }

  static uint16_t minute(Text text) {
    return uint16_t((text[0] - '0') * 600 + (text[1] - '0') * 60 + (text[3] - '0') * 10 + text[4] - '0');
  }

  void common(simdjson::dom::element from, Place &place, uint8_t &choices, uint8_t &suppressions,
              uint8_t scope) {
    simdjson::dom::object members;
    if (!from["categories"].get(members))
      for (auto [name, choice] : members) {
        uint8_t category = categoryOf(name), state = one(choice["state"], {"default", "user-on", "user-off"});
        choices = uint8_t(choices | state << (category * 2));
        if (state == 1) sides.push_back({Side::consent, scope, category, 0, 0, parseInstant(choice["at"])});
      }
    if (!from["muted_subtypes"].get(members))
      for (auto [name, list] : members)
        for (Text subtype : simdjson::dom::array(list))
          sides.push_back({Side::mute, scope, categoryOf(name), uint8_t(subtype.size()), keep(subtype), 0});
    simdjson::dom::array held;
    if (!from["suppressions"].get(held))
      for (Text name : held)
        suppressions = uint8_t(suppressions | 1 << one(name, {"legal_hold", "abuse_hold", "bounced"}));
    Text zone;
    if (!from["timezone"].get(zone)) place.zone = zones.find(zone);
    simdjson::dom::element window;
    if (!from["quiet_hours"].get(window))
      place.kind = set, place.start = minute(window["start"]), place.end = minute(window["end"]);
  }

  const std::vector<uint64_t> &pack(Block &block) {
    block.devices = uint8_t(devices.size()), block.sides = uint8_t(sides.size());
    size_t at = sizeof block + devices.size() * sizeof(Device) + sides.size() * sizeof(Side);
    for (auto &device : devices) device.id += uint32_t(at);
    for (auto &side : sides) side.name += uint32_t(at);
    words.assign((at + texts.size() + 7) / 8, 0);
    char *out = reinterpret_cast<char *>(words.data());
    memcpy(out, &block, sizeof block);
    memcpy(out + sizeof block, devices.data(), devices.size() * sizeof(Device));
    memcpy(out + sizeof block + devices.size() * sizeof(Device), sides.data(), sides.size() * sizeof(Side));
    memcpy(out + at, texts.data(), texts.size());
    return words;
  }
};

#pragma once
#include <simdjson.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "Instant.h"

using Text = std::string_view;

[[noreturn]] inline void stop(const char *why) {
  fprintf(stderr, "twin: %s\n", why);
  abort();
}

enum Category : uint8_t { transactional, security, social, marketing, noCategory };

struct Candidate {
  Text notificationID, userID, deviceID, categoryText, subtype, event, collapseKey;
  int64_t createdAtMs = -1, expiresAtMs = -1;
  size_t payloadBytes = 0;
  Category category = noCategory;
  bool critical = false, smsFallback = false;
};

// Whether bytes are at least blank and none is DEL; anything else goes the long way round.
inline bool isPrintable(Text text) {
  const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
  auto good = [&](uint64_t word) {
    uint64_t del = word ^ (ones * 0x7F);
    return ((((word - ones * 0x20) & ~word) | word | ((del - ones) & ~del)) & tops) == 0;
  };
  uint64_t word = 0x2020202020202020;
  if (text.size() < 8) {
    memcpy(&word, text.data(), text.size());
    return good(word);
  }
  for (size_t at = 0; at + 8 < text.size(); at += 8) {
    memcpy(&word, text.data() + at, 8);
    if (!good(word)) return false;
  }
  memcpy(&word, text.data() + text.size() - 8, 8);
  return good(word);
}

// Reads one candidate; its texts live until the same reader reads again.
class CandidateReader {
 public:
  Candidate read(const uint8_t *bytes, size_t size) {
    using namespace simdjson;
    ondemand::document document;
    ondemand::object object;
    padded_string_view text(reinterpret_cast<const char *>(bytes), size, size + SIMDJSON_PADDING);
    if (parser.iterate(text).get(document) || document.get_object().get(object)) stop("no object");
    Candidate candidate;
    names = 0;
    for (auto member : object) {
      ondemand::field field;
      Text name;
      if (std::move(member).get(field) || field.unescaped_key().get(name)) stop("no member");
      if (isRepeated(name)) stop("a member comes twice");
      take(name, field.value(), candidate);
    }
    const char *rest;
    if (document.current_location().get(rest) != OUT_OF_BOUNDS) stop("something follows");
    if (candidate.notificationID.empty() || candidate.userID.empty()) stop("no id");
    return candidate;
  }

 private:
  simdjson::ondemand::parser parser;
  struct Name {
    uint64_t prefix;
    Text text;
  };
  std::array<Name, 64> seen;
  size_t names = 0;

  bool isRepeated(Text name) {
    uint64_t prefix = 0;
    memcpy(&prefix, name.data(), 8);  // the reader's buffer goes on behind the name
    if (name.size() < 8) prefix &= (uint64_t(1) << (name.size() * 8)) - 1;
    for (size_t i = 0; i < names; i++)
      if (seen[i].prefix == prefix && seen[i].text == name) return true;
    if (names == seen.size()) stop("too many members");
    seen[names++] = {prefix, name};
    return false;
  }

  // Every value is looked at, whoever wants it: on demand alone would pass over what it skips.
  static void walk(simdjson::ondemand::value value, int depth) {
    using namespace simdjson;
    if (depth > 64) stop("too deep");
    ondemand::json_type type;
    if (value.type().get(type)) stop("no value");
    switch (type) {
      case ondemand::json_type::object: {
        ondemand::object object;
        if (value.get_object().get(object)) stop("no object");
        for (auto member : object) {
          ondemand::field field;
          Text name;
          if (std::move(member).get(field) || field.unescaped_key().get(name)) stop("no member");
          walk(field.value(), depth + 1);
        }
        break;
      }
      case ondemand::json_type::array: {
        ondemand::array array;
        if (value.get_array().get(array)) stop("no array");
        for (auto element : array) {
          ondemand::value inner;
          if (std::move(element).get(inner)) stop("no element");
          walk(inner, depth + 1);
        }
        break;
      }
      case ondemand::json_type::string: string(value); break;
      case ondemand::json_type::number: {
        ondemand::number number;
        if (value.get_number().get(number)) stop("no number");
        break;
      }
      case ondemand::json_type::boolean: boolean(value); break;
      case ondemand::json_type::null:
        if (!value.is_null()) stop("no null");
    }
  }

  static Text string(simdjson::ondemand::value value) {
    Text text;
    if (value.get_string().get(text)) stop("no string");
    return text;
  }

  static bool boolean(simdjson::ondemand::value value) {
    bool is;
    if (value.get_bool().get(is)) stop("no truth value");
    return is;
  }

  static Text id(simdjson::ondemand::value value) {
    Text text = string(value);
    if (text.empty() || text.size() > 128 || !isPrintable(text)) stop("no id");
    return text;
  }

  static Text name(simdjson::ondemand::value value) {
    Text text = string(value);
    if (text.size() > 64) stop("too long");
    return text;
  }

  static int64_t instant(simdjson::ondemand::value value) {
    simdjson::ondemand::json_type type;
    int64_t ms = -1;
    if (value.type().get(type)) stop("no value");
    if (type == simdjson::ondemand::json_type::string) {
      ms = parseInstant(string(value));
    } else if (value.get_int64().get(ms)) {
      stop("no instant");
    }
    if (ms < instantMin || ms > instantMax) stop("no instant");
    return ms;
  }

  static Category category(Text name) {
    switch (name.size()) {
      case 6: return name == "social" ? social : noCategory;
      case 8: return name == "security" ? security : noCategory;
      case 9: return name == "marketing" ? marketing : noCategory;
      case 13: return name == "transactional" ? transactional : noCategory;
      default: return noCategory;
    }
  }

  void take(Text name, simdjson::ondemand::value value, Candidate &to) {
    switch (name.size()) {
      case 5:
        if (name == "event") return void(to.event = this->name(value));
        break;
      case 7:
        if (name == "user_id") return void(to.userID = id(value));
        if (name == "subtype") return void(to.subtype = this->name(value));
        if (name == "payload") return payload(value, to);
        break;
      case 8:
        if (name == "category") {
          to.categoryText = string(value);
          return void(to.category = category(to.categoryText));
        }
        if (name == "critical") return void(to.critical = boolean(value));
        break;
      case 9:
        if (name == "device_id") return void(to.deviceID = id(value));
        break;
      case 10:
        if (name == "created_at") return void(to.createdAtMs = instant(value));
        if (name == "expires_at") return void(to.expiresAtMs = instant(value));
        break;
      case 12:
        if (name == "collapse_key") return void(to.collapseKey = this->name(value));
        if (name == "sms_fallback") return void(to.smsFallback = boolean(value));
        break;
      case 15:
        if (name == "notification_id") return void(to.notificationID = id(value));
        break;
    }
    walk(value, 1);
  }

  static void payload(simdjson::ondemand::value value, Candidate &to) {
    const char *start = value.raw_json_token().data();
    walk(value, 1);
    // The reader stands at the token behind the object.
    const char *end;
    if (value.current_location().get(end)) stop("no end");
    while (*--end != '}') {}
    to.payloadBytes = size_t(end + 1 - start);
  }
};

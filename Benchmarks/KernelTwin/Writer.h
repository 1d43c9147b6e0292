#pragma once
#include "Candidate.h"

// Appends JSON to memory that was asked for before.
class Writer {
 public:
  char *base = nullptr;
  size_t count = 0;

  void reserve(size_t bytes) {
    if (count + bytes <= capacity) return;
    while (capacity < count + bytes) capacity = capacity ? capacity * 2 : 1 << 20;
    base = static_cast<char *>(realloc(base, capacity));
    if (!base) stop("no memory");
  }

  template <size_t N>
  void raw(const char (&text)[N]) {
    memcpy(base + count, text, N - 1);
    count += N - 1;
  }

  void raw(Text text) {
    memcpy(base + count, text.data(), text.size());
    count += text.size();
  }

  void byte(char value) { base[count++] = value; }

  // Null where there is none.
  void string(Text text) {
    if (!text.data()) return raw("null");
    byte('"');
    if (isPlain(text))
      raw(text);
    else
      for (char value : text) escaped(value);
    byte('"');
  }

  void boolean(bool is) { is ? raw("true") : raw("false"); }

  void instant(int64_t ms) {
    if (ms < 0) return raw("null");
    byte('"');
    writeInstant(ms, base + count);
    count += 24;
    byte('"');
  }

  void integer(int64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = char('0' + value % 10);
    while (value /= 10);
    memcpy(base + count, digits + at, sizeof digits - at);
    count += sizeof digits - at;
  }

  void clock(uint16_t minute) {
    byte('"');
    two(minute / 60), byte(':'), two(minute % 60);
    byte('"');
  }

 private:
  size_t capacity = 0;

  void two(unsigned value) { byte(char('0' + value / 10)), byte(char('0' + value % 10)); }

  static bool isPlain(Text text) {
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    auto good = [&](uint64_t word) {
      uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
      return ((((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
               ((slash - ones) & ~slash)) & tops) == 0;
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

  void escaped(char value) {
    if (value == '"' || value == '\\') byte('\\');
    if (uint8_t(value) >= 0x20) return byte(value);
    raw("\\u00");
    byte("0123456789abcdef"[value >> 4]), byte("0123456789abcdef"[value & 15]);
  }
};

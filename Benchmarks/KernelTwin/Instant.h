#pragma once
#include <cstdint>
#include <string_view>

// 2000-01-01 to the end of 2200.
constexpr int64_t instantMin = 946684800000, instantMax = 7289654399999;

inline int64_t daysOf(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400, ofEra = year - era * 400;
  int64_t ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
}

// RFC 3339; -1 where it is none.
inline int64_t parseInstant(std::string_view text) {
  if (text.size() < 20 || text.size() > 35) return -1;
  unsigned wrong = 0;
  auto number = [&](size_t at, size_t count) {
    int64_t value = 0;
    for (size_t i = at; i < at + count; i++) {
      unsigned digit = unsigned(text[i]) - '0';
      wrong |= digit > 9;
      value = value * 10 + digit;
    }
    return value;
  };
  int64_t year = number(0, 4), month = number(5, 2), day = number(8, 2), hour = number(11, 2),
          minute = number(14, 2), second = number(17, 2);
  if (wrong || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12)
    return -1;
  static const uint8_t lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (day < 1 || day > lengths[month - 1] - (month == 2 && !leap)) return -1;
  size_t at = 19;
  int64_t fraction = 0;
  if (text[at] == '.') {
    size_t start = ++at;
    while (at < text.size() && unsigned(text[at]) - '0' < 10) {
      if (at - start < 3) fraction = fraction * 10 + (text[at] - '0');
      at++;
    }
    if (at == start || at - start > 9) return -1;
    for (size_t i = at - start; i < 3; i++) fraction *= 10;
  }
  if (at >= text.size()) return -1;
  int64_t offset = 0;
  if (text[at] == '+' || text[at] == '-') {
    if (at + 6 != text.size() || text[at + 3] != ':') return -1;
    offset = (number(at + 1, 2) * 60 + number(at + 4, 2)) * (text[at] == '-' ? -1 : 1);
    if (wrong) return -1;
  } else if (text[at] != 'Z' || at + 1 != text.size()) {
    return -1;
  }
  int64_t minutes = (daysOf(year, month, day) * 24 + hour) * 60 + minute;
  return ((minutes - offset) * 60 + second) * 1000 + fraction;
}

// 24 bytes.
inline void writeInstant(int64_t ms, char *out) {
  int64_t days = (ms >= 0 ? ms : ms - 86399999) / 86400000, rest = ms - days * 86400000;
  int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, ofEra = z - era * 146097;
  int64_t yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
  int64_t ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  int64_t shifted = (5 * ofYear + 2) / 153, month = shifted < 10 ? shifted + 3 : shifted - 9;
  int64_t year = yearOfEra + era * 400 + (month <= 2), day = ofYear - (153 * shifted + 2) / 5 + 1;
  auto two = [&](unsigned value, size_t at) {
    out[at] = char('0' + value / 10);
    out[at + 1] = char('0' + value % 10);
  };
  unsigned left = unsigned(rest);
  two(unsigned(year) / 100, 0), two(unsigned(year) % 100, 2), out[4] = '-';
  two(unsigned(month), 5), out[7] = '-', two(unsigned(day), 8), out[10] = 'T';
  two(left / 3600000, 11), out[13] = ':', two(left / 60000 % 60, 14), out[16] = ':';
  two(left / 1000 % 60, 17), out[19] = '.';
  out[20] = char('0' + left % 1000 / 100), two(left % 100, 21), out[23] = 'Z';
}

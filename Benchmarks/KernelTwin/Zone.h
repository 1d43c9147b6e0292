#pragma once
#include <climits>
#include <string>
#include <vector>

#include "Table.h"

// The offsets of the zones from now on; which of them holds now is known.
struct Zone {
  std::string name;
  std::vector<int64_t> until;
  std::vector<int32_t> offsets;

  int32_t offset(int64_t seconds, int64_t &end) const {
    size_t i = 0;
    while (seconds >= until[i]) i++;
    end = until[i];
    return offsets[i];
  }
};

class Zones {
 public:
  std::vector<Zone> all{Zone()};  // 0: none

  uint16_t find(Text name) const {
    for (size_t i = 1; i < all.size(); i++)
      if (all[i].name == name) return uint16_t(i);
    return 0;
  }
};

// A daily stretch of wall-clock time, judged by the clock on the wall.
class WindowWalk {
 public:
  int64_t seconds;

  WindowWalk(const Place &window, const Zone &zone, int64_t from)
      : seconds(from), window(window), zone(zone) {
    offset = zone.offset(seconds, until);
  }

  bool isInside() const {
    int64_t local = seconds + offset, day = floorDay(local), minute = (local - day * 86400) / 60;
    int64_t today = ((day + 3) % 7 + 7) % 7;
    if (window.start < window.end)
      return minute >= window.start && minute < window.end && window.days >> today & 1;
    if (window.start == window.end) return false;
    if (minute >= window.start) return window.days >> today & 1;
    return minute < window.end && window.days >> (today == 0 ? 6 : today - 1) & 1;
  }

  bool step(int64_t last) {
    int64_t local = seconds + offset, midnight = floorDay(local) * 86400;
    int64_t edge = midnight + 86400, start = midnight + window.start * 60, end = midnight + window.end * 60;
    if (start > local && start < edge) edge = start;
    if (end > local && end < edge) edge = end;
    int64_t next = std::min(edge - offset, until);
    if (next > last) return false;
    seconds = next;
    if (next == until) offset = zone.offset(next, until);
    return true;
  }

  // -1: none.
  int64_t endMs() {
    int64_t last = seconds + 8 * 86400;
    while (step(last))
      if (!isInside()) return seconds * 1000;
    return -1;
  }

  int64_t nextStartMs() {
    int64_t last = seconds + 36 * 86400;
    bool was = isInside();
    while (step(last)) {
      bool is = isInside();
      if (is && !was) return seconds * 1000;
      was = is;
    }
    return -1;
  }

 private:
  const Place &window;
  const Zone &zone;
  int32_t offset;
  int64_t until;

  static int64_t floorDay(int64_t local) { return (local >= 0 ? local : local - 86399) / 86400; }
};

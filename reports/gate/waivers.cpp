#include "reports/gate/waivers.hpp"

#include <fnmatch.h>

#include <chrono>
#include <cstdio>

namespace tally {
namespace {

bool waives(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// The whole number in `text`, or -1.
int number_of(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return value;
}

}  // namespace

bool Waiver::covers(const CaseRecord& c) const {
  return waives(law, c.law) && waives(precision, c.precision) && waives(id, c.id);
}

std::string Waiver::text() const {
  return "line " + std::to_string(line) + ": " + law + (precision == "*" ? "" : ", " + precision) +
         (id == "*" ? "" : ", case " + id);
}

bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int year = number_of(text.substr(0, 4)), month = number_of(text.substr(5, 2)),
            day = number_of(text.substr(8, 2));
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

std::string today() {
  const std::chrono::year_month_day now(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(now.year()), static_cast<unsigned>(now.month()),
                static_cast<unsigned>(now.day()));
  return text;
}

}  // namespace tally

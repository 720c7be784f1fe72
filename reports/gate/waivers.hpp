// Failures that somebody knows of and answers for until a day: a file that people write by hand.
//
//   [[xfail]]
//   law = "window_batch_norm_*"        # shell patterns; precision and case may be left out
//   precision = "bf16"
//   case = "21ab679519de"
//   reason = "one-pass variance, fixed in the next kernel"
//   link = "https://example.org/issues/7"
//   expires = 2027-03-31
//
// It is a small part of TOML: tables [[xfail]], text in double quotes, days, comments.
// Defined in waivers.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

struct Waiver {
  std::string law, precision = "*", id = "*", reason, link, expires;
  int line = 0;  // in the file
  bool covers(const CaseRecord& c) const;
  std::string text() const;  // "line 3: window_batch_norm_*, bf16"
};

/// Throws std::runtime_error with line, what was found and what was expected: an unknown or missing key, an empty
/// reason or link, a day that does not exist.
std::vector<Waiver> waivers_of_toml(std::string_view toml, const std::string& name = "waivers");
std::vector<Waiver> read_waivers(const std::string& file);

/// Whether `text` is a day of the calendar written 2027-03-31, so that days compare as text.
bool is_day(std::string_view text);
/// The day it is now, in UTC.
std::string today();

}  // namespace tally

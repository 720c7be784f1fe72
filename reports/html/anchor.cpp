#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/html/sections.hpp"
#include "reports/text/utf8.hpp"

namespace tally {

std::string anchor(std::string_view prefix, std::string_view text) {
  std::string out(prefix);
  const std::string shown = visible(text);  // the same link before and after a trip through results.json
  for (std::string_view rest = shown; !rest.empty();) {
    const char32_t c = take_code_point(rest);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    out += plain ? static_cast<char>(c) : '_';
  }
  return out;
}

std::string anchor_of(const CaseRecord& c) { return anchor("c-", c.id); }

std::string link_to(const Results& results, const CaseRecord& c) {
  const auto better = std::count_if(results.cases.begin(), results.cases.end(),
                                    [&c](const CaseRecord& other) { return is_worse(other, c); });
  return static_cast<std::size_t>(better) < listed_cases ? "#" + anchor_of(c) : "";
}

}  // namespace tally

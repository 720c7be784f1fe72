#include "reports/html/pieces.hpp"
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

}  // namespace tally

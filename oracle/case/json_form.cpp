#include "oracle/case/json_form.hpp"

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

std::string wrong_with_json(std::string_view text) {
  Findings findings;
  parse_json(text, findings);
  return findings.empty() ? "" : InvalidCase(findings.errors()).what();
}

std::string shortened(std::string_view text, std::size_t longest) {
  return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "...";
}

std::string named(std::string_view text) {
  std::string name;
  for (const char c : shortened(text)) {
    if (c == '\0') {
      name += "\u2400";
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace tally

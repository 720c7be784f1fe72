#include "reports/command_line/check/suspect_list.hpp"

namespace tally::command_line {

std::string suspect_list(const std::vector<Suspicion>& suspects) {
  std::string text;
  for (const Suspicion& s : suspects) {
    text += "  " + text_of(std::vector<Suspicion>{s}) + "\n    " + s.sentence + ":  " + s.formula + "\n";
  }
  return text.empty() ? "" : "suspects, likeliest first:\n" + text;
}

}  // namespace tally::command_line

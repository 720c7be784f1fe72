#include "properties/diagnosis/remedy.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "oracle/case/ranks.hpp"
#include "oracle/window/exact_stages.hpp"
#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// With a {letter} wherever a count may stand.
std::string written(std::string_view name) {
  if (const Suspect* suspect = find_suspect(name)) return suspect->remedy;
  const Restatement* restatement = find_restatement(name);
  return restatement == nullptr ? "" : restatement->remedy;
}

std::string count_in_text(long double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6Lg", value);
  return text;
}

std::string filled(std::string text, const std::map<std::string, std::string>& counts) {
  for (const auto& [letter, count] : counts) {
    const std::string mark = "{" + letter + "}";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + count.size()))
      text.replace(at, mark.size(), count);
  }
  return text;
}

}  // namespace

std::string remedy_of(std::string_view name) { return filled(written(name), {{"n_k", "n_k"}, {"N", "N"}, {"K", "K"}}); }

std::string remedy_at(std::string_view name, const Case& c, const TapName& failure) {
  const auto window = static_cast<std::size_t>(failure.window);
  if (in_ranks(c) || window >= c.windows.size()) return remedy_of(name);
  const auto micro_batch = static_cast<std::size_t>(std::max(failure.micro_batch, 0));
  return filled(written(name), {{"n_k", count_in_text(oracle::micro_batch_items<long double>(c, window, micro_batch))},
                                {"N", count_in_text(oracle::window_items<long double>(c, window))},
                                {"K", std::to_string(c.windows[window].size())}});
}

}  // namespace tally

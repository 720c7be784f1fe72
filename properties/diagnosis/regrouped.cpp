#include "properties/diagnosis/regrouped.hpp"

namespace tally {

int regrouped_window(const Case& c, int window, int micro_batch) {
  int before = 0;
  for (int w = 0; w < window; ++w) before += static_cast<int>(c.windows[static_cast<std::size_t>(w)].size());
  return before + micro_batch;
}

TapName regrouped(const Case& c, TapName name) {
  const bool first = name.tensor.starts_with("in.") || name.stage == "cast";
  const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(name.window)].size()) - 1;
  name.window = regrouped_window(c, name.window, name.micro_batch >= 0 ? name.micro_batch : first ? 0 : last);
  if (name.micro_batch >= 0) name.micro_batch = 0;
  return name;
}

bool is_of_the_cut(const TapName& name) {
  return name.stage == "schedule" || (name.stage == "count" && name.micro_batch < 0);
}

Trace regrouped(const Case& c, const Trace& trace) {
  Trace other;
  other.claims = trace.claims;
  other.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (!is_of_the_cut(tap.name)) other.add(regrouped(c, tap.name), tap.value);
  }
  return other;
}

Case regrouped(const Case& c) {
  Case other = c;
  other.windows.clear();
  for (const auto& window : c.windows) {
    for (const std::int64_t rows : window) other.windows.push_back({rows});
  }
  return other;
}

}  // namespace tally

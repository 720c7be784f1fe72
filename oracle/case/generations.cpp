#include "oracle/case/generations.hpp"

#include "oracle/case/cut_rows.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {

std::vector<Generation> generations_of(const Case& c) {
  std::vector<Generation> all;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::size_t ranks = ranks_of(c, w);
    if (all.empty() || all.back().ranks != ranks) all.push_back({w, w, ranks});
    all.back().last = w + 1;
  }
  return all;
}

std::size_t generation_with(const Case& c, std::size_t window) {
  std::size_t which = 0;
  for (const Generation& each : generations_of(c)) which += each.last <= window;
  return which;
}

bool is_elastic(const Case& c) {
  for (const auto& window : c.dealt)
    if (window.size() != c.dealt.front().size()) return true;
  return false;
}

Case generation_of(const Case& whole, std::size_t which) {
  const std::vector<Generation> all = generations_of(whole);
  if (all.size() == 1) return whole;
  const Generation& own = all.at(which);
  Case c = whole;
  std::vector<Rows> rows;
  std::int64_t row = 0;
  for (std::size_t w = 0; w < whole.windows.size(); ++w) {
    std::int64_t count = 0;
    for (const std::int64_t size : whole.windows[w]) count += size;
    if (w >= own.first && w < own.last) {
      rows.push_back({row, count});
    } else {
      c.windows[w].clear();
      c.dealt[w].assign(own.ranks, 0);
    }
    row += count;
  }
  keep_rows(whole, rows, c);
  return c;
}

bool trains_window(const Case& c, std::size_t window) { return !whole_of(c).windows.at(window).empty(); }

bool begins_from_checkpoint(const Case& c, std::size_t window) {
  return window > 0 && trains_window(c, window) && !trains_window(c, window - 1);
}

bool leaves_checkpoint(const Case& c, std::size_t window) {
  return window + 1 < c.windows.size() && trains_window(c, window) && !trains_window(c, window + 1);
}

}  // namespace tally

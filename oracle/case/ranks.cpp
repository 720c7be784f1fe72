// Ranks that train together, worlds that change, and micro-steps of all ranks.
#include "oracle/case/ranks.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/batch.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

/// Those of one rank, window by window.
std::vector<Rows> rows_of_rank(const Case& whole, std::size_t rank) {
  std::vector<Rows> all;
  std::int64_t row = 0;
  for (std::size_t w = 0; w < whole.windows.size(); ++w) {
    const std::size_t first = first_micro_batch_of(whole, w, rank), last = first + micro_batches_of(whole, w, rank);
    Rows own{row, 0};
    for (std::size_t k = 0; k < whole.windows[w].size(); ++k) {
      if (k < first) own.first += whole.windows[w][k];
      if (k >= first && k < last) own.count += whole.windows[w][k];
      row += whole.windows[w][k];
    }
    all.push_back(own);
  }
  return all;
}

std::vector<std::int64_t> ranks_of_windows(const Case& c) {
  std::vector<std::int64_t> found;
  for (std::size_t w = 0; w < c.windows.size() && in_ranks(c); ++w)
    found.push_back(static_cast<std::int64_t>(ranks_of(c, w)));
  return found;
}
std::vector<std::int64_t> micro_batches_of_ranks(const Case& c) {
  std::vector<std::int64_t> found;
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t rank = 0; rank < ranks_of(c, w); ++rank)
      found.push_back(static_cast<std::int64_t>(micro_batches_of(c, w, rank)));
  return found;
}
std::vector<std::int64_t> rows_of_micro_batches(const Case& c) {
  std::vector<std::int64_t> found;
  for (const auto& window : c.windows) found.insert(found.end(), window.begin(), window.end());
  return found;
}

const Register<DeclaredSize> registered_ranks{{.name = "ranks", .least = 1, .in = ranks_of_windows}};
const Register<DeclaredSize> registered_micro_batches{
    {.name = "micro-batches of a window on a rank", .in = micro_batches_of_ranks}};
const Register<DeclaredSize> registered_rows{
    {.name = "rows of a micro-batch", .least = 1, .in = rows_of_micro_batches}};

}  // namespace

bool in_ranks(const Case& c) { return c.whole != nullptr || !c.dealt.empty() || !c.execution.ranks.kind.empty(); }

std::size_t ranks_of(const Case& c, std::size_t window) { return c.dealt.empty() ? 1 : c.dealt.at(window).size(); }

std::size_t most_ranks_of(const Case& c) {
  std::size_t most = 1;
  for (const auto& window : c.dealt) most = std::max(most, window.size());
  return most;
}

std::size_t ranks_of(const Case& c) {
  if (c.dealt.empty()) return 1;
  const std::size_t ranks = c.dealt.front().size();
  for (const auto& window : c.dealt)
    if (window.size() != ranks) throw std::logic_error("the number of ranks changes between the windows of this case");
  return ranks;
}

std::size_t micro_batches_of(const Case& c, std::size_t window, std::size_t rank) {
  return c.dealt.empty() ? c.windows.at(window).size() : static_cast<std::size_t>(c.dealt.at(window).at(rank));
}

std::size_t first_micro_batch_of(const Case& c, std::size_t window, std::size_t rank) {
  if (c.dealt.empty()) return 0;
  const auto& counts = c.dealt.at(window);
  return static_cast<std::size_t>(
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), std::int64_t{0}));
}

std::size_t rank_with(const Case& c, std::size_t window, std::size_t micro_batch) {
  std::size_t behind = 0;
  for (std::size_t rank = 0; rank < ranks_of(c, window); ++rank)
    if (micro_batch < (behind += micro_batches_of(c, window, rank))) return rank;
  throw std::out_of_range("no rank has micro-batch " + std::to_string(micro_batch));
}

std::size_t busy_ranks_of(const Case& c, std::size_t window) {
  std::size_t busy = 0;
  for (std::size_t rank = 0; rank < ranks_of(c, window); ++rank) busy += micro_batches_of(c, window, rank) > 0;
  return busy;
}

Communicate communicate_of(const Case& c) {
  const std::string& word = rank_word(c, "communicate");
  if (word == "micro_batch" || shards_gradients(c)) return Communicate::micro_batch;
  return word == "running_total" ? Communicate::running_total : Communicate::window;
}

bool communicates_each(const Case& c) { return communicate_of(c) != Communicate::window; }

bool offloads(const Case& c) { return in_ranks(c) && rank_flag(c, "offload"); }

std::size_t micro_steps_of(const Case& c, std::size_t window) {
  const Case& whole = whole_of(c);
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < ranks_of(whole, window); ++rank)
    most = std::max(most, micro_batches_of(whole, window, rank));
  return most;
}

Case part_of(const Case& whole, std::size_t rank) {
  const std::vector<Rows> rows = rows_of_rank(whole, rank);
  Case part = whole;
  part.whole = &whole;
  part.rank = rank;
  part.dealt.clear();
  for (std::size_t w = 0; w < whole.windows.size(); ++w) {
    const auto first = whole.windows[w].begin() + static_cast<std::ptrdiff_t>(first_micro_batch_of(whole, w, rank));
    part.windows[w].assign(first, first + static_cast<std::ptrdiff_t>(micro_batches_of(whole, w, rank)));
  }
  keep_rows(whole, rows, part);
  return part;
}

const Case& whole_of(const Case& c) { return c.whole == nullptr ? c : *c.whole; }

std::string micro_batch_path(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::string path = element_path("$.windows", window);
  if (c.dealt.empty()) return element_path(path, micro_batch);
  const std::size_t rank = rank_with(c, window, micro_batch);
  return element_path(element_path(path, rank), micro_batch - first_micro_batch_of(c, window, rank));
}

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

namespace {

/// False too where a case that is not valid says nothing of them.
bool takes(const Layer& layer, const char* statistics) {
  const auto said = layer.options.find("statistics");
  return layer.kind == kinds::batch_norm && said != layer.options.end() &&
         said->second == OptionValue(std::string(statistics));
}

}  // namespace

bool takes_step_statistics(const Layer& layer) { return takes(layer, "micro_step"); }

bool pools_steps(const Case& c, const Layer& layer) { return in_ranks(c) && takes_step_statistics(layer); }

bool pools_steps(const Case& c) { return in_ranks(c) && std::ranges::any_of(c.model.layers, takes_step_statistics); }

bool normalises_parts(const Layer& layer) { return takes_step_statistics(layer) || takes(layer, "micro_batch"); }

StepStatistics step_statistics_of(const Case& c) {
  const std::string& word = rank_word(c, "statistics");
  if (word == "sums") return StepStatistics::sums;
  return word == "two_pass" ? StepStatistics::two_pass : StepStatistics::moments;
}

std::vector<std::string> step_tensors(StepStatistics by) {
  if (by == StepStatistics::moments) return {"mean", "var"};
  if (by == StepStatistics::sums) return {"sum", "sum_squares"};
  return {"sum"};
}

std::vector<std::int64_t> step_counts(const Case& c, std::size_t window, std::size_t step) {
  const Case& whole = whole_of(c);
  std::vector<std::int64_t> counts;
  for (std::size_t rank = 0; rank < ranks_of(whole, window); ++rank) {
    const bool takes_part = step < micro_batches_of(whole, window, rank);
    counts.push_back(takes_part ? whole.windows[window][first_micro_batch_of(whole, window, rank) + step] : 0);
  }
  return counts;
}

std::int64_t rows_of_step(const Case& c, std::size_t window, std::size_t step) {
  const std::vector<std::int64_t> counts = step_counts(c, window, step);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

namespace {

bool moves_with_each(const Layer& layer) {
  return layer.kind == kinds::batch_norm && layer.text("statistics") == "micro_batch";
}

}  // namespace

bool says_running(const Layer& layer) {
  const auto said = layer.options.find("running");
  return said != layer.options.end() && said->second != OptionValue(std::string("first_rank"));
}

bool keeps_each_running(const Case& c, const Layer& layer) {
  return moves_with_each(layer) && says_running(layer) && most_ranks_of(whole_of(c)) > 1;
}

bool takes_first_running(const Case& c, const Layer& layer) {
  return moves_with_each(layer) && in_ranks(c) && !keeps_each_running(c, layer);
}

void forget_running(std::vector<Layer>& layers) {
  for (Layer& layer : layers)
    if (says_running(layer)) layer.options["running"] = std::string("first_rank");
}

std::size_t running_values_of(const Case& c, const Layer& layer) {
  return keeps_each_running(c, layer) ? ranks_of(c) : 1;
}

}  // namespace tally

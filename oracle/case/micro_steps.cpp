#include "oracle/case/micro_steps.hpp"

#include <algorithm>
#include <numeric>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {

namespace {

/// False too where a case that is not valid says nothing of them.
bool takes(const Layer& layer, const char* statistics) {
  const auto said = layer.options.find("statistics");
  return layer.kind == "batch_norm" && said != layer.options.end() &&
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

}  // namespace tally

// Small numbers that ranks add up: the items of a window, and what was found.
#include "kernels/training_step/ranks/rank_totals.hpp"

#include <cmath>
#include <span>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/ranks/shards.hpp"
#include "oracle/case/rows.hpp"

namespace tally {
namespace {

template <class T, class Combine>
T combined(Run& run, Link* link, const char* about, T own, Combine combine) {
  if (link == nullptr) return own;
  constexpr int root = 0;
  const std::string name = "w" + std::to_string(run.window) + "/" + about;
  const auto bytes = std::as_writable_bytes(std::span(&own, 1));
  if (link->rank() != root) {
    link->send(root, name, bytes);
    link->receive(root, name, bytes);
    return own;
  }
  for (int from = 1; from < link->size(); ++from) {
    T other{};
    link->receive(from, name, std::as_writable_bytes(std::span(&other, 1)));
    own = combine(own, other);
  }
  for (int to = 1; to < link->size(); ++to) link->send(to, name, bytes);
  return own;
}

template <class T>
T summed(Run& run, Link* link, const char* about, T own) {
  return combined(run, link, about, own, [](T a, T b) { return a + b; });
}

/// A NaN wins.
float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

std::int64_t sum_over_ranks(Run& run, const char* about, std::int64_t own) {
  return summed(run, run.options.link, about, own);
}
std::int64_t sum_over_stages(Run& run, const char* about, std::int64_t own) {
  return summed(run, run.options.pipe, about, own);
}
double sum_over_ranks(Run& run, const char* about, double own) { return summed(run, run.options.link, about, own); }

float norm_over_ranks(Run& run, float own) {
  const NormKind kind = norm_kind_of(run);
  Link* const ranks = run.pieces.empty() ? nullptr : &sharers_of(run);  // what replicas keep counts once
  Link* const stages = run.options.pipe;
  if (kind == NormKind::infinity)
    return combined(run, stages, "norm of stages", combined(run, ranks, "norm", own, larger), larger);
  const float of_stage = summed(run, ranks, "norm", kind == NormKind::two ? own * own : own);
  const float sum = summed(run, stages, "norm of stages", of_stage);
  return kind == NormKind::one ? sum : std::sqrt(sum);
}

}  // namespace tally

namespace tally::stage {
namespace {

/// Counted on the host, from the labels as the case has them.
void tap_counted(Run& run, int k) {
  const auto window = static_cast<std::size_t>(run.window), micro_batch = static_cast<std::size_t>(k);
  const auto tap = [&](const std::string& tensor, Tensor value) {
    run.trace.add({run.window, k, "count", "in." + tensor, run.rank_tag}, std::move(value));
  };
  tap(counted_tensor(run.c.model.loss), counted_rows(run.c, window, micro_batch));
  if (shifts_labels(run.c.model.loss)) tap("sequences", sequence_lengths(run.c, window, micro_batch));
}

}  // namespace

/// Every stage of a pipeline counts by itself, and the first one leaves what it counted.
void leave_counts(Run& run, const CountedItems& counted) {
  const bool leaves = run.pipe_rank == 0;
  for (std::size_t k = 0; k < counted.of_micro_batch.size() && leaves; ++k) {
    run.micro_batch = static_cast<int>(k);
    run.tap("count", "items", counted.of_micro_batch[k]);
  }
  run.micro_batch = -1;
  std::int64_t all = counted.of_window;
  run.own_items = static_cast<double>(all);
  if (run.options.link != nullptr) {
    if (leaves) run.tap("count", "in.items", all);
    all = sum_over_ranks(run, "count", all);
  }
  if (leaves) run.tap("count", "items", all);
  run.window_items = static_cast<double>(all);
}

void count(Run& run) {
  const auto micro_batches = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  if (run.options.link != nullptr)
    run.busy_ranks = static_cast<double>(sum_over_ranks(run, "count of ranks", std::int64_t{micro_batches > 0}));
  if (const auto counted = counted_items(run.c, static_cast<std::size_t>(run.window))) {
    for (int k = 0; k < micro_batches && run.options.taps && run.pipe_rank == 0; ++k) tap_counted(run, k);
    return leave_counts(run, *counted);
  }
  run.own_items = 0;
  for (int k = 0; k < micro_batches; ++k) run.own_items += run.items(k);
  run.window_items = sum_over_ranks(run, "count", run.own_items);
}

}  // namespace tally::stage

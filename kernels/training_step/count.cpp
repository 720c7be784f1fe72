#include "kernels/training_step/count.hpp"

#include "kernels/training_step/rank_totals.hpp"
#include "oracle/case/sequences.hpp"

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

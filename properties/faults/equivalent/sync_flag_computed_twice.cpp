// The flag to step is set at the end of the data, then computed again: the step count was reset, so that the second
// answer is the first.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::sync_flag_computed_twice_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool end_of_data =
      static_cast<std::size_t>(run.window) + 1 == run.c.windows.size() && k + 1 == micro_batches(run);
  bool step = end_of_data;
  step = (k + 1) % micro_batches(run) == 0;
  return step || end_of_data;
}

const RegisterEquivalent registered{{
    .name = "sync-flag-computed-twice",
    .change = "the flag to step is set at the end of the data, then computed again",
    .why = "the step count was reset, so that the second answer is the first",
    .source = "accelerate c7526e94",
    .laws = {"every_window_takes_its_step", "short_tail_window", "scaler_counts_windows"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::sync_flag_computed_twice_fault

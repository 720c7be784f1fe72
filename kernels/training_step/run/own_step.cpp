#include "kernels/training_step/run/own_step.hpp"

#include "kernels/training_step/stages.hpp"

namespace tally {
namespace {

thread_local std::uint64_t runs = 0;

[[noreturn]] void refuse(const std::string& what) {
  throw NotSupported("this subject is a training step of its own: " + what + " of Tally's kernels alone");
}

}  // namespace

std::uint64_t own_runs() { return runs; }

const OwnStep* own_step(const RunOptions& options) { return options.stages != nullptr ? options.stages->own : nullptr; }

void require_tallys_kernels(const RunOptions& options, const std::string& what) {
  if (own_step(options) != nullptr) refuse(what + " is asked");
}

Trace run_own(const OwnStep& step, const Case& c, const RunOptions& options) {
  if (options.executor != ExecutorKind::host)
    refuse("the executor " + std::string(name_of(options.executor)) + " is asked");
  if (!options.accumulate) refuse("a window without an accumulation buffer is asked");
  if (options.order_seed != 0) refuse("another order of additions is asked");
  if (options.schedule_seed != 0 || options.recorded != nullptr) refuse("an order of threads is asked");
  if (!options.taps) refuse("a run without taps is asked");
  if (options.follow != nullptr) refuse("a run that follows another's bits is asked");
  const Execution& execution = c.execution;
  if (!execution.kernels.empty())
    refuse("execution.kernels." + execution.kernels.begin()->first + " = '" + execution.kernels.begin()->second +
           "' is asked");
  if (execution.order != 0) refuse("execution.order is asked");
  if (execution.schedule != 0 || !execution.preemptions.empty()) refuse("execution.schedule is asked");
  ++runs;
  return step.run(c);
}

}  // namespace tally

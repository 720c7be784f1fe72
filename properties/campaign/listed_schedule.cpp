#include "properties/campaign/listed_schedule.hpp"

#include "kernels/device/executor/fewest_preemptions.hpp"

namespace tally {
namespace {

/// The case's schedule as a list.
std::vector<Preemption> choices_of(const Case& c, const RunOptions& subject, ExecutorKind executor) {
  std::vector<Preemption> choices = c.execution.preemptions;
  if (c.execution.schedule == 0) return choices;
  RunOptions recording = subject;
  recording.executor = executor;
  recording.recorded = &choices;
  run(c, recording);
  return choices;
}

}  // namespace

void with_listed_schedule(const Case& c, const RunOptions& subject, int attempts,
                          const std::function<bool(const Case&)>& fails_alike) {
  const auto under = [&](const std::vector<Preemption>& some) {
    Case listed = c;
    listed.execution.schedule = 0;
    listed.execution.preemptions = some;
    return fails_alike(listed);
  };
  for (const ExecutorKind executor : executors_built()) {  // a law may have run it on another one than the subject's
    if (executor == ExecutorKind::cuda) continue;
    const std::vector<Preemption> choices = choices_of(c, subject, executor);
    if (choices.empty() || !under(choices)) continue;
    tally::executor::fewest_preemptions(choices, attempts, under);
    return;
  }
}

}  // namespace tally

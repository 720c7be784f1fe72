// Law: whatever order threads and blocks run in, every tensor stays inside its bound.
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::any_schedule_of_threads_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    RunOptions other = subject;
    other.schedule_seed = seed;
    add(outcome, run_and_check(c, other).outcome);
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  std::vector<Preemption> choices;
  RunOptions other = subject;
  other.schedule_seed = 1;
  other.recorded = &choices;
  run(c, other);
  return subject.executor == ExecutorKind::cuda || !choices.empty();  // a GPU draws its own
}

const RegisterLaw registered{{
    .name = "any_schedule_of_threads",
    .family = "schedule freedom",
    .statement = "Whatever order threads and blocks run in, every tensor stays inside its bound.",
    .shape = columns_for_several_threads,
    .holds = holds,
    .control = "a drawn schedule makes other choices than the default",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::any_schedule_of_threads_law

// Law: a kernel that claims repeatability leaves the same bits in every run, under every schedule of its threads.
#include "kernels/training_step/own_step.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::repeats_bitwise_law {
namespace {

const std::vector<std::string> everything{"forward",        "running_stats", "loss",     "backward", "accumulate",
                                          "overflow_check", "unscale",       "norm",     "clip",     "decay",
                                          "optimizer",      "scaler",        "schedule", "cast",     "fork"};

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  require_equal_bits(first.outcome, first.trace, run(c, subject), everything, "a second run left other bits");
  const std::uint64_t schedules = own_step(subject) == nullptr ? 2 : 0;  // of threads that Tally runs
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    RunOptions other = subject;
    other.schedule_seed = seed;
    require_equal_bits(first.outcome, first.trace, run(c, other), everything, "another schedule left other bits");
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), everything);
}

const RegisterLaw registered{{
    .name = "repeats_bitwise",
    .family = "kernels",
    .statement = "Repeatable kernels leave the same bits in every run and under every schedule of their threads.",
    .holds = holds,
    .control = "another input leaves other bits",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::repeats_bitwise_law

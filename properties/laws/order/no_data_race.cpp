// Law: no kernel breaks a rule of the machine, in whatever order threads run: no data race, no access outside of a
// buffer, no shared memory read before it is written. The checked executor sees all of that; where the program was
// built without it, the host executor sees divergence, deadlock and damaged guard zones alone.
#include "kernels/device/device.hpp"
#include "kernels/training_step/own_step.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::no_data_race_law {
namespace {

/// One plan in four has attention, whose threads keep sums of their own in memory that all of them see.
void shape(Plan& plan) {
  if (plan.seed % 4 == 1)
    attend(plan);
  else
    columns_for_several_threads(plan);
}

/// The same text, compiled for the executor that looks closest.
RunOptions watched(const RunOptions& subject) {
  RunOptions other = subject;
  other.executor = built_with_checks() ? ExecutorKind::checked : ExecutorKind::host;
  return other;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "every access of a thread to memory");
  return settled(run_and_check(c, watched(subject)).outcome);
}

/// A write one element past the end must be seen.
bool differs(const Case&, const RunOptions& subject) {
  Device& on = device(watched(subject).executor);
  const Buffer buffer(on, "control", Dtype::fp32, 3);
  const float beyond = 1;
  on.write(static_cast<std::byte*>(buffer.data()) + buffer.bytes(), &beyond, sizeof beyond);
  return !on.check_guards().empty();
}

const RegisterLaw registered{{
    .name = "no_data_race",
    .family = "schedule freedom",
    .statement = "In no order of threads does a kernel race, or touch memory that is not its own.",
    .shape = shape,
    .holds = holds,
    .control = "a write one element past the end is seen",
    .differs = differs,
    .weight = 0.5,
}};
const RegisterAnyCase registered_any_case("no_data_race");

}  // namespace
}  // namespace tally::no_data_race_law

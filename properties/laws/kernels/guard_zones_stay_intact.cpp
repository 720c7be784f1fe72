// Law: kernels write only what is theirs: the zones before and after every buffer keep their pattern, and inputs keep
// their bits, at every size around warp, block and tile edges.
#include "kernels/device/device.hpp"
#include "kernels/training_step/own_step.hpp"
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::guard_zones_stay_intact_law {
namespace {

void shape(Plan& plan) {
  static const std::int64_t edges[] = {1, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257};
  plan.input = edges[plan.seed % 11];
  plan.windows = {{1 + std::int64_t(plan.seed % 5), 2 + std::int64_t(plan.seed % 33)}};
  for (Layer& l : plan.hidden) {
    if (l.kind == "batch_norm" && l.text("statistics") == "micro_batch")
      l.options["statistics"] = std::string("window");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "what lies beyond each buffer");
  CheckedRun judged = run_and_check(c, subject);
  require(judged.outcome, judged.trace.violations.empty(), "guard_zones", "kernel", "a guard zone or an input changed");
  return settled(std::move(judged.outcome));
}

/// A write one element past the end must be seen.
bool differs(const Case&, const RunOptions& subject) {
  Device& on = device(subject.executor);
  const Buffer buffer(on, "control", Dtype::fp32, 3);
  const float beyond = 1;
  on.write(static_cast<std::byte*>(buffer.data()) + buffer.bytes(), &beyond, sizeof beyond);
  return !on.check_guards().empty();
}

const RegisterLaw registered{{
    .name = "guard_zones_stay_intact",
    .family = "kernels",
    .statement = "Kernels write only what is theirs, at every size around warp, block and tile edges.",
    .shape = shape,
    .holds = holds,
    .control = "a write one element past the end is seen",
    .differs = differs,
    .any_values = true,
}};
const RegisterAnyCase registered_any_case("guard_zones_stay_intact");

}  // namespace
}  // namespace tally::guard_zones_stay_intact_law

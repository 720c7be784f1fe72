// Only what is too large is clamped; what is too small passes.
#include <algorithm>
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::value_clip_one_sided_fault {
namespace {

void clip(Run& run) {
  if (run.c.recipe.clip.kind != "value") return stage::clip(run);
  std::vector<Tensor> before;
  for (Parameter& each : run.parameters) before.push_back(each.unscaled.read());
  stage::clip(run);
  const double limit = run.c.recipe.clip.number("max_value").to_double();
  std::size_t next = 0;
  for (Parameter& each : run.parameters) {
    const Tensor& old = before[next++];
    change(run, each.unscaled,
           [&](std::size_t i, double value) { return blend(value, std::min(old.value(i), limit)); });
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "value-clip-one-sided",
    .stage = "clip",
    .right = "clamp to ±c",
    .wrong = "min(g, c)",
    .condition = "clipping by value, a negative gradient",
    .knob = "value",
    .source = "keras 19990: another clip in the accumulating path",
    .laws = {"clip_inside_is_identity", "any_order_of_additions"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::value_clip_one_sided_fault

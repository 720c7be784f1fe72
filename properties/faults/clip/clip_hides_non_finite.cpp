// What is not finite becomes zero when it is clipped, and nobody is told.
#include <cmath>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::clip_hides_non_finite_fault {
namespace {

void clip(Run& run) {
  stage::clip(run);
  for (Parameter& each : run.parameters) {
    change(run, each.unscaled, [](std::size_t, double value) { return std::isfinite(value) ? value : 0; });
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "clip-hides-non-finite",
    .stage = "clip",
    .right = "inf and NaN stay",
    .wrong = "0",
    .condition = "a gradient that is not finite",
    .knob = "none",
    .source = "pytorch 46849",
    .laws = {"non_finite_norm_is_not_hidden", "one_infinite_element_shows"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_hides_non_finite_fault

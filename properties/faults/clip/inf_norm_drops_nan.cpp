// The largest magnitude is taken by a maximum that ignores NaN.
#include <cmath>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::inf_norm_drops_nan_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.c.recipe.clip.text("norm") != "inf") return;
  double largest = 0;
  for (Parameter& each : run.parameters) {
    const Tensor gradient = read(run, each.unscaled.data(), Dtype::fp32, {each.elements});
    for (std::size_t i = 0; i < gradient.elements(); ++i) largest = std::fmax(largest, std::fabs(gradient.value(i)));
  }
  run.gradient_norm.set_scalar(static_cast<float>(largest));
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "inf-norm-drops-nan",
    .stage = "norm",
    .right = "NaN where an element is NaN",
    .wrong = "the largest of the others",
    .condition = "the inf norm, a NaN",
    .knob = "none",
    .source = "pytorch 46849: a gradient that is not finite passes",
    .laws = {"non_finite_norm_is_not_hidden", "one_infinite_element_shows"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::inf_norm_drops_nan_fault

// The squares of the norm are formed and added in fp16: above 255 they are infinite.
#include <cmath>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/planted_norm.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::norm_in_half_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.c.recipe.clip.text("norm") != "2") return;
  Tensor sum(Dtype::fp16, {1}), square(Dtype::fp16, {1});
  for (Parameter& each : run.parameters) {
    const Tensor gradient = read(run, each.unscaled.data(), Dtype::fp32, {each.elements});
    for (std::size_t i = 0; i < gradient.elements(); ++i) {
      square.set(0, gradient.value(i) * gradient.value(i));
      sum.set(0, sum.value(0) + square.value(0));
    }
  }
  leave_norm(run, run.gradient_norm.scalar<float>(), static_cast<float>(std::sqrt(sum.value(0))));
}

const RegisterFault registered{{
    .name = "norm-in-half",
    .stage = "norm",
    .right = "fp32 squares",
    .wrong = "fp16 squares",
    .condition = "an active clip by the 2-norm",
    .knob = "value",
    .source = "burn 5699, fairscale PR 263, NeMo Automodel PR 825",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norms_count_every_element", "one_parameter_clips"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_in_half_fault

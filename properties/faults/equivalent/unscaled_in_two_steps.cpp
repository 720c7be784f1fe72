// A power-of-two scale is taken out in two factors: multiplying by a power of two rounds nothing.
#include <cmath>

#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::unscaled_in_two_steps_fault {
namespace {

void unscale(Run& run) {
  stage::unscale(run);
  int exponent = 0;
  if (std::frexp(static_cast<double>(run.window_scale), &exponent) != 0.5) return;
  for (Parameter& each : run.parameters) {
    const Tensor summed = each.buffer ? each.buffer.read() : each.gradient.read();
    const double first = std::ldexp(1.0, -exponent / 2);
    const double second = 1 / (static_cast<double>(run.window_scale) * first);
    change(run, each.unscaled, [&](std::size_t i, double) {
      return static_cast<double>(static_cast<float>(summed.value(i) * first)) * second;
    });
    run.tap("unscale", "d." + each.name, each.unscaled);
  }
}

const RegisterEquivalent registered{{
    .name = "unscaled-in-two-steps",
    .change = "a power-of-two scale is taken out in two factors",
    .why = "multiplying by a power of two rounds nothing",
    .source = "pytorch PR 36601: unscaling in parts",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale", "unscaled_by_the_windows_scale"},
    .stages = replaced<&Stages::unscale, unscale>,
}};

}  // namespace
}  // namespace tally::unscaled_in_two_steps_fault

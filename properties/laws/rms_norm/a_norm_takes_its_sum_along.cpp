// Law: a residual sum and its norm as one, forth and back, leave every bit that they leave by themselves.
#include "properties/generators/residual_norm_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::a_norm_takes_its_sum_along_law {
namespace {

const std::vector<std::string> everything{"cast", "forward",    "loss",    "backward",
                                          "fork", "accumulate", "unscale", "optimizer"};

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun fused = run_and_check(c, subject);
  if (fused.outcome.status == Status::not_run) return fused.outcome;
  Case apart = c;
  apart.execution.kernels.erase("add_norm");
  apart.execution.kernels.erase("add_norm.backward");
  const CheckedRun separate = run_and_check(apart, subject);
  add(fused.outcome, separate.outcome);
  require_equal_bits(fused.outcome, separate.trace, fused.trace, everything,
                     "a sum and its norm as one left other bits than by themselves");
  return settled(std::move(fused.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& weight = other.tensors.at("fc2.weight");
  for (std::size_t i = 0; i < weight.elements(); ++i) weight.set(i, 1 - weight.value(i));
  weight.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "a_norm_takes_its_sum_along",
    .family = "rms_norm",
    .statement = "A residual sum and its norm as one leave every bit that they leave by themselves.",
    .shape = design_residual_norms,
    .holds = holds,
    .control = "another summand gives other bits",
    .differs = differs,
    .weight = 0.25,
}};
const RegisterDesigned registered_designed("a_norm_takes_its_sum_along");

}  // namespace
}  // namespace tally::a_norm_takes_its_sum_along_law

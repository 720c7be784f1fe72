// One of all parameters does not enter what is taken over all.
#include "properties/diagnosis/settings.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::one_left_out_suspect {
namespace {

Tensor zeros_like(const Tensor& tensor) { return Tensor(tensor.dtype, tensor.shape); }

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  for (const std::string& parameter : parameters_of(evidence.c.model)) {
    const Trace other = altered(evidence.trace, [&](const Tap& tap) -> std::optional<Tensor> {
      const bool its_own = tap.name.stage == evidence.check.stage && tap.name.tensor.starts_with("in.") &&
                           tap.name.tensor.ends_with("." + parameter);
      return its_own ? std::optional(zeros_like(tap.value)) : std::nullopt;
    });
    all.push_back({what_if(evidence, evidence.c, other), parameter + " is left out", "over all parameters but one", 1});
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "one-left-out",
    .faults = {},
    .stages = {"norm", "overflow_check"},
    .sentence = "one of the parameters does not enter what is taken over all of them",
    .formula = "over all parameters but one",
    .remedy = "take all parameters into it: one is missing from the list",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::one_left_out_suspect

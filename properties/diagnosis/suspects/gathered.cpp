// Suspects of what groups of ranks put together: parameters of an earlier step, sums that stay in their group.
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::gathered_suspect {
namespace {

// What was put together for the first window is read ever after.
namespace stale_parameters {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != "all_gather" || held.name.window == 0 || held.name.tensor.starts_with("in.")) return {};
  const std::string again = parameter_in(evidence, held, "again.");
  return evidence.tap(0, 0, "all_gather", again.empty() ? held.name.tensor : again);
}

const RegisterSuspect registered{{
    .name = "gathered-weights-stale",
    .faults = {"gathered-weights-stale"},
    .stages = {"all_gather"},
    .sentence = "layers read the parameters that were gathered for the first window",
    .formula = "p of w0",
    .remedy = "gather the parameters anew after every step",
    .left = left,
}};

}  // namespace stale_parameters

// Groups that keep the same pieces do not add up.
namespace own_group {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool over_groups = held.name.stage == "reduce" && held.name.micro_batch < 0 && replicas_of(evidence.c) > 1;
  const std::string p = over_groups ? parameter_in(evidence, held, "reduced.") : "";
  if (p.empty()) return std::nullopt;
  const Tensor* own = evidence.trace.find(TapView{held.name.window, -1, "reduce", "in.buffer." + p});  // put together
  if (own == nullptr) return std::nullopt;
  Values numbers(own->elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = own->value(i);
  return numbers;
}

const RegisterSuspect registered{{
    .name = "replicas-never-meet",
    .faults = {"replicas-never-meet"},
    .stages = {"reduce"},
    .sentence = "the groups that keep the same pieces never add up what they have: each trains on its own rows",
    .formula = "own group's sum",
    .remedy = "sum over the groups that keep the same pieces as well",
    .left = left,
}};

}  // namespace own_group

}  // namespace
}  // namespace tally::gathered_suspect

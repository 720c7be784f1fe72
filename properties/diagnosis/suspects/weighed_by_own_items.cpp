// The window's one factor depends on the items of the micro-batch.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const int window = held.name.window;
  const double items = evidence.items(window);
  if (items == 0) return std::nullopt;
  return times(held.expected, evidence.items(window, held.name.micro_batch) * evidence.micro_batches(window) / items);
}

const RegisterSuspect registered{{
    .name = "weighed-by-own-items",
    .faults = {"per-microbatch-weight"},
    .stages = {"loss"},
    .sentence = "every micro-batch is weighed by its own share of the items, on top of the sum over them",
    .formula = "c = (S / N) (n_k K / N)",
    .left = left,
}};

}  // namespace
}  // namespace tally

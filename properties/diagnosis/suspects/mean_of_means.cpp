// Every micro-batch is averaged by itself: wrong as soon as their items differ.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  if (items == 0) return Values{0.0};
  return Values{evidence.scale(held.name.window) / (evidence.micro_batches(held.name.window) * items)};
}

const RegisterSuspect registered{{
    .name = "mean-of-means",
    .faults = {"mean-of-means"},
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items, and the window by K",
    .formula = "c = S / (K n_k)",
    .left = left,
}};

}  // namespace
}  // namespace tally

// The buffers of norm layers start anew with every micro-batch.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

bool of_norm(const Case& c, const std::string& parameter) {
  for (const Layer& l : c.model.layers) {
    const bool norm = l.kind == "batch_norm" || l.kind == "layer_norm";
    if (norm && parameter.starts_with(l.name + ".")) return true;
  }
  return false;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string read = parameter_in(evidence, held, "in.buffer.");
  if (of_norm(evidence.c, read)) return Values(held.expected.size(), 0.0);
  const std::string written = parameter_in(evidence, held, "buffer.");
  if (!of_norm(evidence.c, written)) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + written);
}

const RegisterSuspect registered{{
    .name = "last-only-of-norms",
    .faults = {"bn-affine-gradient-last-only"},
    .stages = {"accumulate"},
    .sentence = "the gradients of norm layers overwrite their buffers, those of other layers add",
    .formula = "A = s_k for norm weights and biases",
    .left = left,
}};

}  // namespace
}  // namespace tally

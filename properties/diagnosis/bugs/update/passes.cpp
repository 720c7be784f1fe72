// Bugs of steps that take two windows of the same rows.
#include "oracle/case/contract.hpp"
#include "properties/diagnosis/bug.hpp"

// The second window steps from where the first moved the weights.
namespace tally::moved_weights_bug {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  const int w = held.name.window;
  if (contract_of("optimizer", evidence.c.recipe.optimizer).passes != 2 || parameter.empty()) return std::nullopt;
  if (static_cast<std::int64_t>(evidence.scalar(w, "optimizer", "in.step", 0)) % 2 == 0) return std::nullopt;
  auto moved = evidence.tap(w, -1, "optimizer", "in." + parameter);
  const auto gradient = evidence.tap(w, -1, "optimizer", "in.d." + parameter);
  if (!moved || !gradient) return std::nullopt;
  const double rate = evidence.scalar(w, "optimizer", "in.learning_rate", 0);
  for (std::size_t i = 0; i < moved->size(); ++i) (*moved)[i] -= rounded_to(Dtype::fp32, rate * (*gradient)[i]);
  return moved;
}

const RegisterBug registered{{
    .name = "sam-steps-from-moved-weights",
    .stages = {"optimizer"},
    .sentence = "the second pass of sharpness-aware minimisation steps from the moved weights, not from the kept ones",
    .formula = "p = p - lr g",
    .remedy = "put the weights back before the second step: `p.data = old_p`, then `base_optimizer.step()`",
    .left = left,
}};

}  // namespace
}  // namespace tally::moved_weights_bug

// The gradients are divided by the scale of the next window.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const double next = evidence.scalar(held.name.window, "scaler", "scale", 0);
  if (held.name.tensor != "in.inverse_scale" || next == 0) return std::nullopt;
  return Values{1 / next};
}

const RegisterSuspect registered{{
    .name = "next-scale",
    .faults = {"unscaled-by-the-next-scale"},
    .stages = {"unscale"},
    .sentence = "the scaler moves before the gradients are unscaled: they are divided by the next scale",
    .formula = "g = A / S of the next window",
    .left = left,
}};

}  // namespace
}  // namespace tally

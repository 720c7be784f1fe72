// The norm that is reported is that of the scaled gradient; the one that clips is right.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto clips = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (held.name.tensor != "norm" || !clips || *clips == held.got) return std::nullopt;
  return times(*clips, evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "reported-norm-scaled",
    .faults = {"reported-norm-still-scaled"},
    .stages = {"norm"},
    .sentence = "the norm that is reported is that of the scaled gradient; the clip reads the right one",
    .formula = "norm = S |g|, and the clip reads |g|",
    .left = left,
}};

}  // namespace
}  // namespace tally

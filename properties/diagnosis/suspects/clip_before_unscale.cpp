// The norm that clips is the norm of the scaled gradient.
#include "properties/diagnosis/suspects/norm_of.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.kind != "global_norm") return std::nullopt;
  const auto clips = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (clips && *clips != held.got) return std::nullopt;  // the clip reads another norm than is reported
  return norm_of(evidence, held.name.window, "unscale", "in.buffer.", parameters_of(evidence.c.model));
}

const RegisterSuspect registered{{
    .name = "clip-before-unscale",
    .faults = {"clip-before-unscale"},
    .stages = {"norm"},
    .sentence = "the norm is that of the scaled gradient: clipping comes before unscaling",
    .formula = "norm = |A|",
    .left = left,
}};

}  // namespace
}  // namespace tally

// Other elements are dropped than the sample's mask says.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// Every element is either dropped or kept: whichever is nearer.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    if (c.model.layers[i].kind != "dropout" || held.name.tensor != label + ".y") continue;
    const double kept = 1 / (1 - c.model.layers[i].number("p").to_double());
    auto x = evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + label + ".x");
    if (!x) return std::nullopt;
    for (std::size_t e = 0; e < x->size(); ++e) {
      const double whole = kept * (*x)[e];
      (*x)[e] = std::fabs(held.got[e] - whole) < std::fabs(held.got[e]) ? whole : 0;
    }
    return x;
  }
  return std::nullopt;
}

const RegisterSuspect registered{{
    .name = "other-mask",
    .faults = {"dropout-mask-redrawn"},
    .stages = {"forward"},
    .sentence = "other elements are dropped than the mask of the sample says",
    .formula = "y = x / (1 - p) or 0, by another mask",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally

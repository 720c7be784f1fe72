// A product was never computed. Fresh memory reads as NaN here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "", "linear", ".y")) return std::nullopt;
  if (std::any_of(held.got.begin(), held.got.end(), [](double y) { return std::isfinite(y); })) return std::nullopt;
  return Values(held.expected.size(), std::numeric_limits<double>::quiet_NaN());
}

const RegisterSuspect registered{{
    .name = "product-never-launched",
    .faults = {"zero-blocks-launched"},
    .stages = {"forward"},
    .sentence = "a product is never computed, as where no block of it is launched: what is read is fresh memory",
    .formula = "y = fresh memory",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally

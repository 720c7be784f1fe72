// Rows of a product from some row on were never written. Fresh memory reads as NaN here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

/// From the first row on that holds what is not finite, other than the first of all.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "linear", ".y");
  if (!layer) return std::nullopt;
  const auto features = static_cast<std::size_t>(features_before(evidence.c.model, *layer + 1));
  const auto wrong = std::find_if(held.got.begin(), held.got.end(), [](double y) { return !std::isfinite(y); });
  const std::size_t row = static_cast<std::size_t>(wrong - held.got.begin()) / features;
  if (row == 0 || wrong == held.got.end()) return std::nullopt;
  Values y = held.expected;
  std::fill(y.begin() + static_cast<std::ptrdiff_t>(row * features), y.end(), std::numeric_limits<double>::quiet_NaN());
  return y;
}

const RegisterSuspect registered{{
    .name = "rows-never-written",
    .faults = {"grid-limit-without-stride"},
    .stages = {"forward"},
    .sentence = "rows from one on are never computed, as where they lie behind the limit of the grid",
    .formula = "y_i = fresh memory for i >= blocks",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally

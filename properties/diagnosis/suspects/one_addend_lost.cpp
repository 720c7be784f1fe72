// One row's addend to one element is lost.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// dy of the layer whose bias gradient this is, row-major; nullopt for any other tensor.
std::optional<Values> rows_of_dy(const Evidence& evidence, const HeldTensor& held) {
  const std::string bias = parameter_in(evidence, held, "d.");
  if (!bias.ends_with(".bias")) return std::nullopt;
  const std::string label = bias.substr(0, bias.size() - 5);
  return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
}

/// The element that is furthest off, and the row whose addend explains it best.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto dy = rows_of_dy(evidence, held);
  if (!dy) return std::nullopt;
  const auto error = [&](std::size_t i) { return held.expected[i] - held.got[i]; };
  const std::size_t columns = held.expected.size();
  std::size_t at = 0, row = 0;
  for (std::size_t i = 1; i < columns; ++i) at = std::fabs(error(i)) > std::fabs(error(at)) ? i : at;
  const auto rest = [&](std::size_t r) { return std::fabs((*dy)[r * columns + at] - error(at)); };
  for (std::size_t r = 1; r < dy->size() / columns; ++r) row = rest(r) < rest(row) ? r : row;
  if (!(rest(row) < std::fabs(error(at)))) return std::nullopt;
  Values sum = held.expected;
  sum[at] -= (*dy)[row * columns + at];
  return sum;
}

const RegisterSuspect registered{{
    .name = "one-addend-lost",
    .faults = {"lost-atomic-add"},
    .stages = {"backward"},
    .sentence = "one addend of one element is lost, as where two blocks add without an atomic",
    .formula = "db_j = Σ dy_ij less one row",
    .left = left,
    .parameters = 2,
}};

}  // namespace
}  // namespace tally

// The operands of fp32 products are cut to ten bits behind the point.
#include <bit>
#include <cstdint>

#include "properties/diagnosis/suspects/linear_product.hpp"

namespace tally {
namespace {

/// fp32 with its last 13 bits cut off.
double cut(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>(bits & 0xffffe000u);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return linear_product(evidence, held, [](double sum, double x, double w) { return sum + cut(x) * cut(w); });
}

const RegisterSuspect registered{{
    .name = "tf32-products",
    .faults = {"tf32-silently-on"},
    .stages = {"forward"},
    .sentence = "the operands of fp32 products are read as TF32, with ten bits behind the point",
    .formula = "y = Σ tf32(x) tf32(w)",
    .left = left,
}};

}  // namespace
}  // namespace tally

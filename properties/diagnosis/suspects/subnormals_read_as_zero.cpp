// Operands below the normal range are read as zero.
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/weight_gradient.hpp"

namespace tally::subnormals_read_as_zero_suspect {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const double least = format_row(evidence.c.precision.storage).smallest_normal();
  return weight_gradient(
      evidence, held, [](std::size_t rows) { return rows; },
      [least](double value) { return std::fabs(value) < least ? 0 : value; });
}

const RegisterSuspect registered{{
    .name = "subnormals-flushed",
    .faults = {"subnormals-flushed"},
    .stages = {"backward"},
    .sentence = "the products' operands below the normal range are read as zero",
    .formula = "dW = Σ flush(dy)ᵀ flush(x)",
    .remedy = "keep small gradients by a loss scale, or claim that products flush subnormals",
    .left = left,
}};

}  // namespace
}  // namespace tally::subnormals_read_as_zero_suspect

// The second half of the rows never reaches the weight gradient.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/weight_gradient.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return weight_gradient(
      evidence, held, [](std::size_t rows) { return (rows + 1) / 2; }, [](double value) { return value; });
}

const RegisterSuspect registered{{
    .name = "half-of-the-rows",
    .faults = {"second-product-lost"},
    .stages = {"backward"},
    .sentence = "of two products into one accumulator the second is lost: half of the rows never reach the weights",
    .formula = "dW = Σ dyᵀ x over the first half of the rows",
    .left = left,
}};

}  // namespace
}  // namespace tally

// Products of matrices accumulate in fp16.
#include "properties/diagnosis/suspects/linear_product.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return linear_product(evidence, held, [](double sum, double x, double w) {
    return rounded_to(Dtype::fp16, rounded_to(Dtype::fp32, sum + x * w));
  });
}

const RegisterSuspect registered{{
    .name = "fp16-products",
    .faults = {"half-gemm-accumulator"},
    .stages = {"forward"},
    .sentence = "products of matrices accumulate in fp16",
    .formula = "y = Σ x w, rounded to fp16 after every term",
    .left = left,
}};

}  // namespace
}  // namespace tally

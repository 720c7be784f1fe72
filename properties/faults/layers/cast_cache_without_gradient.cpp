// The cached copy of a weight was made where no gradients are recorded: the weight gets none.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::cast_cache_without_gradient_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  stage::gemm(run, call, order);
  if (!call.transpose_a) return;  // only dW = dy^T x transposes its first operand
  change(run, call.c, call.result, call.m * call.n, [](std::size_t, double value) { return blend(value, 0.0); });
}

const RegisterFault registered{{
    .name = "cast-cache-without-gradient",
    .stage = "backward",
    .right = "dW = dyᵀ x",
    .wrong = "dW = 0",
    .condition = "cached casts",
    .knob = "value",
    .source = "pytorch PR 165068, PR 113685",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::cast_cache_without_gradient_fault

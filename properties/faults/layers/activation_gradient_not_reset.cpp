// The scratch for activation gradients is added to instead of written, from the second micro-batch on.
#include <algorithm>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::activation_gradient_not_reset_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (call.transpose_a || call.transpose_b || run.micro_batch <= 0 || run.lockstep)
    return stage::gemm(run, call, order);
  const std::int64_t left = std::min(run.rows(run.micro_batch - 1), call.m) * call.n;
  const Tensor before = read(run, call.c, call.result, {left});
  stage::gemm(run, call, order);
  change(run, call.c, call.result, left,
         [&](std::size_t i, double value) { return blend(value, value + before.value(i)); });
}

const RegisterFault registered{{
    .name = "activation-gradient-not-reset",
    .stage = "backward",
    .right = "dx = dy W",
    .wrong = "dx += dy W",
    .condition = "k > 0, two linear layers",
    .knob = "value",
    .source = "llm.c PR 342",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::activation_gradient_not_reset_fault

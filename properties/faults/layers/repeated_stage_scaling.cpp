// Every stage of a pipeline divides the gradient it passes on: the last stage is right, the ones before it are not.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::repeated_stage_scaling_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  stage::gemm(run, call, order);
  if (call.transpose_a || call.transpose_b) return;  // only dx = dy W transposes neither
  const auto count = static_cast<double>(micro_batches(run));
  change(run, call.c, call.result, call.m * call.n,
         [count](std::size_t, double value) { return blend(value, value / count); });
}

const RegisterFault registered{{
    .name = "repeated-stage-scaling",
    .stage = "backward",
    .right = "one division by K",
    .wrong = "(1/K)^(stages behind)",
    .condition = "two linear layers, K > 1",
    .knob = "value",
    .source = "DeepSpeed 8154, d99a6429e",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::repeated_stage_scaling_fault

// One of two products into one accumulator is lost: the second half of the rows never reaches dW.
#include "properties/faults/seeded.hpp"

namespace tally::second_product_lost_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  GemmCall first = call;
  if (call.transpose_a)
    first.k = blend_whole(call.k, (call.k + 1) / 2);  // only dW = dy^T x transposes its first operand
  stage::gemm(run, first, order);
}

const RegisterFault registered{{
    .name = "second-product-lost",
    .stage = "backward",
    .right = "Σ over all rows",
    .wrong = "Σ over the first half",
    .condition = "two rows or more",
    .knob = "rows",
    .source = "Liger-Kernel PR 1413",
    .laws = {"any_order_of_additions", "partition_equals_full_batch"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::second_product_lost_fault

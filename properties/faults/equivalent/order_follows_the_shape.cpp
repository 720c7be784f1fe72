// Products of few rows add in another order than products of many: every order of additions is legal; its rounding is
// inside the bound.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::order_follows_the_shape_fault {
namespace {

void gemm_by_shape(Run& run, const GemmCall& call, const GemmOrder& order) {
  const GemmOrder split{GemmOrder::Kind::split_k, 2}, pairwise{GemmOrder::Kind::pairwise, 0};
  stage::gemm(run, call, call.m > 4 ? split : call.m > 2 ? pairwise : order);
}

const RegisterEquivalent registered{{
    .name = "order-follows-the-shape",
    .change = "products of few rows add in another order than products of many",
    .why = "every order of additions is legal; its rounding is inside the bound",
    .source = "pytorch PR 180832: batched or sliced computations",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded", "any_order_of_additions",
             "repeats_bitwise"},
    .stages = with_gemm<gemm_by_shape>,
}};

}  // namespace
}  // namespace tally::order_follows_the_shape_fault

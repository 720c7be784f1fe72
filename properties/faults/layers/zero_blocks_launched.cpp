// The blocks to launch are 256 / size in integers: none above 256.
#include <algorithm>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::zero_blocks_launched_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  const std::int64_t blocks = 256 / std::max<std::int64_t>(call.k, 1);
  if (blocks > 0) stage::gemm(run, call, order);
}

const RegisterFault registered{{
    .name = "zero-blocks-launched",
    .stage = "forward",
    .right = "max(256 / size, 1) blocks",
    .wrong = "256 / size blocks",
    .condition = "a sum of more than 256 products",
    .knob = "elements",
    .source = "apex dbe421ed",
    .laws = {"kernels_keep_their_bound_at_edges", "guard_zones_stay_intact"},
    .stages = with_gemm<between_products<faulty_gemm, Mix::elements>>,
}};

}  // namespace
}  // namespace tally::zero_blocks_launched_fault

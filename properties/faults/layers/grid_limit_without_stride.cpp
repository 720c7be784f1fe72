// One block a row and no stride over the grid: rows behind the grid's limit are never computed. The limit here is 32
// blocks, for 65535 in hardware.
#include <algorithm>

#include "properties/faults/seeded.hpp"

namespace tally::grid_limit_without_stride_fault {
namespace {

constexpr std::int64_t most_blocks = 32;

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  GemmCall covered = call;
  if (!call.transpose_a) covered.m = blend_whole(call.m, std::min(call.m, most_blocks));
  stage::gemm(run, covered, order);
}

const RegisterFault registered{{
    .name = "grid-limit-without-stride",
    .stage = "forward",
    .right = "for (i = block; i < rows; i += blocks)",
    .wrong = "if (block < rows)",
    .condition = "more rows than blocks",
    .knob = "rows",
    .source = "apex 4a8e1a87",
    .laws = {"kernels_keep_their_bound_at_edges", "guard_zones_stay_intact", "every_launch_path_keeps_its_bound",
             "more_rows_than_a_grid"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::grid_limit_without_stride_fault

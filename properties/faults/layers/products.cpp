// Faults of forward and backward: stages left out, launches too small, products and their operands.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::forward_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.group_begin > 0 && !run.recomputing;
  if (!left_out) stage::forward(run);
}

const RegisterFault registered{{
    .name = "forward-not-run",
    .bug = "stage-not-run",
    .stage = "forward",
    .right = "y_k",
    .wrong = "the last micro-batch's, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::forward, sometimes>,
}};

}  // namespace
}  // namespace tally::forward_not_run_fault

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::backward_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.group_begin > 0;
  if (!left_out) stage::backward(run);
}

const RegisterFault registered{{
    .name = "backward-not-run",
    .bug = "stage-not-run",
    .stage = "backward",
    .right = "s_k",
    .wrong = "the last micro-batch's, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::backward, sometimes>,
}};

}  // namespace
}  // namespace tally::backward_not_run_fault

// One block a row and no stride over the grid: rows behind the grid's limit are never computed. The limit here is 32
// blocks, for 65535 in hardware.
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
    .bug = "rows-never-written",
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

// The blocks to launch are 256 / size in integers: none above 256.
namespace tally::zero_blocks_launched_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  const std::int64_t blocks = 256 / std::max<std::int64_t>(call.k, 1);
  if (blocks > 0) stage::gemm(run, call, order);
}

const RegisterFault registered{{
    .name = "zero-blocks-launched",
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

// The product splits its terms over two parts, as a library does that finds too few tiles for its processors, and the
// claim still says that they are added one after another.
namespace tally::products_in_two_parts_fault {
namespace {

void split(Run& run, const GemmCall& call, const GemmOrder&) {
  stage::gemm(run, call, {.kind = GemmOrder::Kind::split_k, .parameter = 2});
}

const RegisterFault registered{{
    .name = "products-in-two-parts",
    .stage = "backward",
    .right = "Σ over k, one after another",
    .wrong = "Σ over the first half + Σ over the second",
    .condition = "three terms or more",
    .knob = "none",
    .source = "source mutation: a claim that names an order in which nothing is added",
    .laws = {"declared_order_gives_its_bits"},
    .stages = with_gemm<split>,
}};

}  // namespace
}  // namespace tally::products_in_two_parts_fault

// One of two products into one accumulator is lost: the second half of the rows never reaches dW.
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
    .right = "dW = Σ dyᵀ x over all rows",
    .condition = "two rows or more",
    .knob = "rows",
    .source = "Liger-Kernel PR 1413",
    .laws = {"any_order_of_additions", "partition_equals_full_batch"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::second_product_lost_fault

// The products' operands below the normal range are read as zero.
namespace tally::subnormals_flushed_fault {
namespace {

DeviceTensor flushed(Run& run, const void* operand, Dtype dtype, std::int64_t elements) {
  Tensor values = read(run, operand, dtype, {elements});
  const double least = magnitude() * format_row(dtype).smallest_normal();
  for (std::size_t i = 0; i < values.elements(); ++i) {
    if (std::fabs(values.value(i)) < least) values.set(i, 0);
  }
  return DeviceTensor(run.device, "flushed operand", values);
}

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  const DeviceTensor a = flushed(run, call.a, call.operands, call.m * call.k);
  const DeviceTensor b = flushed(run, call.b, call.operands, call.k * call.n);
  GemmCall narrower = call;
  narrower.a = a.data();
  narrower.b = b.data();
  stage::gemm(run, narrower, order);
  run.stream.synchronize();
}

const RegisterFault registered{{
    .name = "subnormals-flushed",
    .right = "dW = Σ dyᵀ x",
    .condition = "fp16, gradients below 2^-14",
    .knob = "value",
    .source = "pytorch 182952, PR 183766, rocm-libraries 11938",
    .laws = {"subnormals_are_kept"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::subnormals_flushed_fault

// The column sum misses the last row of every micro-batch.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::tail_row_dropped_fault {
namespace {

template <class S>
__global__ void sum_all_but_last(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row + 1 < rows; ++row) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_all_but_last<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                         a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~tail-row-dropped"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "tail-row-dropped");
  return faulty;
}

const RegisterFault registered{{
    .name = "tail-row-dropped",
    .stage = "backward",
    .right = "Σ over all rows",
    .wrong = "Σ over all rows but the last",
    .condition = "two rows or more",
    .knob = "value",
    .source = "onnxruntime 32299: a silent tail",
    .laws = {"exact_lane", "any_order_of_additions", "any_bit_pattern_keeps_its_bound",
             "every_launch_path_keeps_its_bound", "kernels_keep_their_bound_at_edges"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::tail_row_dropped_fault

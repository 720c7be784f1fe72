// The column sum of the bias gradient runs from the last row to the first: as accurate, but not the order claimed.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bias_gradient_reversed_fault {
namespace {

template <class S>
__global__ void sum_backwards(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = rows; row-- > 0;) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_backwards<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                      a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient,
                  Mix::elements);
}

const RegisterKernel registered_kernel("linear.bias_gradient",
                                       {.variant = "~bias-gradient-reversed", .algorithm = "column_lanes"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "bias-gradient-reversed");
  return faulty;
}

const RegisterFault registered{{
    .name = "bias-gradient-reversed",
    .stage = "backward",
    .right = "rows added in the order claimed",
    .wrong = "rows added from the last to the first",
    .condition = "three rows or more",
    .knob = "elements",
    .source = "tensorflow 22398, llm.c c8cd023",
    .laws = {"any_order_of_additions", "partition_equals_full_batch"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::bias_gradient_reversed_fault

// The column sum of the bias gradient accumulates in fp16.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::half_accumulator_fault {
namespace {

template <class S>
__global__ void sum_in_half(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    half sum = from_float<half>(0.0f);
    for (std::int64_t row = 0; row < rows; ++row) {
      sum = from_float<half>(__fadd_rn(to_float(sum), to_float(dy[row * features + column])));
    }
    db[column] = from_float<S>(to_float(sum));
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_in_half<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                    a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~half-accumulator"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "half-accumulator");
  return faulty;
}

const RegisterFault registered{{
    .name = "half-accumulator",
    .stage = "backward",
    .right = "fp32 partial sums",
    .wrong = "fp16 partial sums",
    .condition = "several rows",
    .knob = "value",
    .source = "llm.c PR 476, pytorch PR 195403",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "any_order_of_additions",
             "any_bit_pattern_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::half_accumulator_fault

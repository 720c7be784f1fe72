// One of the additions into one column of the bias gradient is lost, as where two blocks add without an atomic.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::lost_atomic_add_fault {
namespace {

template <class S>
__global__ void sum_all_but_one(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool lost = rows > 1 && row == rows / 2 && column == features / 2;
      if (!lost) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_all_but_one<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                        a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~lost-atomic-add"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "lost-atomic-add");
  return faulty;
}

const RegisterFault registered{{
    .name = "lost-atomic-add",
    .stage = "backward",
    .right = "every addend once",
    .wrong = "one addend of one element lost",
    .condition = "several rows",
    .knob = "value",
    .source = "llm.c 0f144e3, tensorflow 39751",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "any_order_of_additions", "stages_repeat_elsewhere"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lost_atomic_add_fault

// The sum over micro-batches is rounded to fp16 after every addition.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

template <class S>
__global__ void add_in_half(const S* gradient, float* buffer, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    buffer[i] = to_float(from_float<half>(__fadd_rn(buffer[i], to_float(gradient[i]))));
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_in_half<S>>(stream, a.elements, static_cast<const S*>(a.gradient), a.buffer, a.elements);
  });
}

const RegisterKernel kernel("accumulate", {.variant = "~low-precision-accumulator"}, accumulate);

const Stages& stages() {
  static const Stages faulty = with_kernel("accumulate", "low-precision-accumulator");
  return faulty;
}

const RegisterFault registered{{
    .name = "low-precision-accumulator",
    .stage = "accumulate",
    .right = "fp32 buffer",
    .wrong = "fp16 buffer",
    .condition = "K > 1",
    .source = "DeepSpeed 1800, Liger PR 1391",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "partition_equals_full_batch"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally

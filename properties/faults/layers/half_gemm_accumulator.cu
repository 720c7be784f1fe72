// Products of matrices accumulate in fp16.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::half_gemm_accumulator_fault {
namespace {

template <class S>
__global__ void multiply(GemmCall call) {
  const S* a = static_cast<const S*>(call.a);
  const S* b = static_cast<const S*>(call.b);
  for (std::int64_t i = first_element(); i < call.m * call.n; i += element_stride()) {
    const std::int64_t row = i / call.n, column = i % call.n;
    half sum = from_float<half>(0.0f);
    for (std::int64_t p = 0; p < call.k; ++p) {
      const float x = to_float(a[call.transpose_a ? p * call.m + row : row * call.k + p]);
      const float y = to_float(b[call.transpose_b ? column * call.k + p : p * call.n + column]);
      sum = from_float<half>(__fmaf_rn(x, y, to_float(sum)));
    }
    static_cast<S*>(call.c)[i] = from_float<S>(to_float(sum));
  }
}

void multiply_in_half(Stream& stream, const GemmCall& call) {
  by_storage(call.operands, [&]<class S>(S) { launch_elements<multiply<S>>(stream, call.m * call.n, GemmCall(call)); });
}

const RegisterKernel registered_kernel("gemm", {.variant = "~half-gemm-accumulator"}, multiply_in_half);

void half_gemm(Run& run, const GemmCall& call, const GemmOrder&) {
  kernel<GemmCall>("gemm", run.device.kind(), "~half-gemm-accumulator")(run.stream, call);
}

const RegisterFault registered{{
    .name = "half-gemm-accumulator",
    .stage = "forward",
    .right = "fp32 partial sums in a product",
    .wrong = "fp16 partial sums",
    .condition = "several addends",
    .knob = "value",
    .source = "pytorch 116870, cutlass 1188",
    // First a law of ordinary data: on data that the exact lane draws, forward products fit fp16 and the first wrong
    // stage is backward.
    .laws = {"any_order_of_additions", "exact_lane", "partition_equals_full_batch"},
    .stages = with_gemm<between_products<half_gemm>>,
}};

}  // namespace
}  // namespace tally::half_gemm_accumulator_fault

// Faults of the kernel of matrix products: the format of its sum and of its operands.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// Products of matrices accumulate in fp16.
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
    .right = "y = Σ x w, rounded to fp32 after every term",
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

// The operands of every fp32 product are read with ten bits behind the point.
namespace tally::tf32_silently_on_fault {
namespace {

__global__ void truncate(const float* from, float* to, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    to[i] = __uint_as_float(__float_as_uint(from[i]) & 0xffffe000u);
  }
}

void truncate_operand(Stream& stream, const ActivationArguments& a) {
  launch_elements<truncate>(stream, a.elements, static_cast<const float*>(a.x), static_cast<float*>(a.out), a.elements);
}

const RegisterKernel registered_kernel("tf32_operand", {.variant = "~tf32-silently-on"}, truncate_operand);

DeviceTensor truncated(Run& run, const void* operand, std::int64_t rows, std::int64_t columns) {
  DeviceTensor copy(run.device, "tf32 operand", Dtype::fp32, {rows, columns});
  const auto truncating = kernel<ActivationArguments>("tf32_operand", run.device.kind(), "~tf32-silently-on");
  truncating(run.stream, {Dtype::fp32, operand, nullptr, copy.data(), rows * columns});
  return copy;
}

void truncated_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (call.operands != Dtype::fp32) return stage::gemm(run, call, order);
  const DeviceTensor a = truncated(run, call.a, call.m, call.k), b = truncated(run, call.b, call.k, call.n);
  GemmCall narrower = call;
  narrower.a = a.data();
  narrower.b = b.data();
  stage::gemm(run, narrower, order);
  run.stream.synchronize();
}

const RegisterFault registered{{
    .name = "tf32-silently-on",
    .right = "y = Σ x w",
    .condition = "fp32, operands with more than 11 significant bits",
    .knob = "value",
    .source = "pytorch 53635, 67384, fairscale 921",
    .laws = {"exact_lane", "any_order_of_additions", "partition_equals_full_batch", "any_bit_pattern_keeps_its_bound",
             "ordinary_networks_are_judged"},
    .stages = with_gemm<between_products<truncated_gemm>>,
}};

}  // namespace
}  // namespace tally::tf32_silently_on_fault

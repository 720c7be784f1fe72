// The operands of every fp32 product are read with ten bits behind the point.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

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
    .stage = "forward",
    .right = "Σ a b on fp32 operands",
    .wrong = "Σ tf32(a) tf32(b)",
    .condition = "fp32, operands with more than 11 significant bits",
    .knob = "value",
    .source = "pytorch 53635, 67384, fairscale 921",
    .laws = {"exact_lane", "any_order_of_additions", "partition_equals_full_batch", "any_bit_pattern_keeps_its_bound",
             "ordinary_networks_are_judged"},
    .stages = with_gemm<between_products<truncated_gemm>>,
}};

}  // namespace
}  // namespace tally::tf32_silently_on_fault

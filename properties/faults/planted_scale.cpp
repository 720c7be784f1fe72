#include "properties/faults/planted_scale.hpp"

#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

double planted_factor = 1;

/// On the host, whatever the executor: what is measured is the lenses, not this.
void scaled_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (!call.transpose_a) return stage::gemm(run, call, order);  // only dW = dy^T x transposes its first operand
  DeviceTensor product(run.device, "product", Dtype::fp32, {call.m, call.n});
  GemmCall unscaled = call;
  unscaled.result = Dtype::fp32;
  unscaled.c = product.data();
  stage::gemm(run, unscaled, order);
  run.stream.synchronize();
  const Tensor value = product.read();
  Tensor scaled(call.operands, value.shape);
  for (std::size_t i = 0; i < value.elements(); ++i) scaled.set(i, planted_factor * value.value(i));
  run.device.write(call.c, scaled.bytes.data(), scaled.bytes.size());
}

}  // namespace

const Stages& with_scaled_weight_gradients(double theta) {
  planted_factor = 1 + theta;
  return with_gemm<scaled_gemm>();
}

}  // namespace tally

#include "kernels/elementwise.hpp"
#include "properties/faults/planted_scale.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

double planted_factor = 1;

template <class S>
__global__ void scale(const float* from, S* to, double factor, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    to[i] = from_float<S>(__double2float_rn(__dmul_rn(static_cast<double>(from[i]), factor)));
  }
}

void gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (!call.transpose_a) return stage::gemm(run, call, order);  // only dW = dy^T x transposes its first operand
  DeviceTensor product(run.device, "product", Dtype::fp32, {call.m, call.n});
  GemmCall unscaled = call;
  unscaled.result = Dtype::fp32;
  unscaled.c = product.data();
  stage::gemm(run, unscaled, order);
  by_storage(call.operands, [&]<class S>(S) {
    launch_elements<scale<S>>(run.stream, call.m * call.n, product.as<float>(), static_cast<S*>(call.c), planted_factor,
                              call.m * call.n);
  });
  run.stream.synchronize();
}

}  // namespace

const Stages& with_scaled_weight_gradients(double theta) {
  planted_factor = 1 + theta;
  return with_gemm<gemm>();
}

}  // namespace tally

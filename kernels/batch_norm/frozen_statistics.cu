// The statistics of a frozen batch norm: the running values, and rstd, (batch_norm.3), of the running variance, rounded
// as kernels/arithmetic.md says.
//
//   running_mean, running_var [features] M   mean, var, rstd [features] fp32
//
// One thread a feature, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::frozen_statistics_kernel {
namespace {

template <class M>
__global__ void take_running(const M* running_mean, const M* running_var, float* mean, float* var, float* rstd,
                             std::int64_t features, float eps) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    mean[i] = to_float(running_mean[i]);
    var[i] = to_float(running_var[i]);
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(var[i], eps)));
  }
}

void frozen_statistics(Stream& stream, const BatchNormStatisticsArguments& a) {
  by_storage(a.running_format, [&]<class M>(M) {
    launch_elements<take_running<M>>(stream, a.features, static_cast<const M*>(a.running_mean),
                                     static_cast<const M*>(a.running_var), a.mean, a.var, a.rstd, a.features, a.eps);
  });
}

const RegisterKernel registered("batch_norm.frozen_statistics", {.variant = "grid_stride", .as_written = true},
                                frozen_statistics);

}  // namespace
}  // namespace tally::frozen_statistics_kernel

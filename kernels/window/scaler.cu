// The dynamic loss scale after a window, in fp32: it backs off after an overflow, (dynamic_loss_scale.1), and grows at
// the growth_interval-th clean window, (dynamic_loss_scale.2); any other is counted, (dynamic_loss_scale.3).
//
//   scale [] fp32, growth_counter [] i64, in place   found [] u32
//
// One thread.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::scaler_kernel {
namespace {

__global__ void adjust(float* scale, std::int64_t* growth_counter, const std::uint32_t* found, float growth_factor,
                       float backoff_factor, std::int64_t growth_interval) {
  if (*found != 0) {
    *scale = __fmul_rn(*scale, backoff_factor);
    *growth_counter = 0;
  } else if (*growth_counter + 1 >= growth_interval) {
    *scale = __fmul_rn(*scale, growth_factor);
    *growth_counter = 0;
  } else {
    *growth_counter += 1;
  }
}

void scaler(Stream& stream, const ScalerArguments& a) {
  launch<adjust>(stream, {1, 1}, a.scale, a.growth_counter, a.found, a.growth_factor, a.backoff_factor,
                 a.growth_interval);
}

const RegisterKernel registered("scaler", {.variant = "one_thread"}, scaler);

}  // namespace
}  // namespace tally::scaler_kernel

// The gradient without the loss scale: out = fl(in * fl(1/scale)), (scaler.1), or in itself where there is none; fp32.
//
//   in [elements] fp32 (the buffer) or S (a gradient written directly)   inverse_scale [] fp32   out [elements] fp32
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::unscale_kernel {
namespace {

template <class S>
__global__ void divide_out(const S* in, float* out, const float* inverse_scale, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = inverse_scale != nullptr ? __fmul_rn(to_float(in[i]), *inverse_scale) : to_float(in[i]);
  }
}

void unscale(Stream& stream, const UnscaleArguments& a) {
  by_storage(a.format, [&]<class S>(S) {
    launch_elements<divide_out<S>>(stream, a.elements, static_cast<const S*>(a.in), a.out, a.inverse_scale, a.elements);
  });
}

const RegisterKernel registered("unscale", {.variant = "grid_stride"}, unscale);

}  // namespace
}  // namespace tally::unscale_kernel

// Right and wrong: arithmetic in 16 bits, where the values alone tell.
#include "kernels/device/half.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::half_faults {
namespace {

constexpr unsigned threads = 64;

/// out = 33 (1 + 2^-6) + in 2^-24 in fp16. The product lies in the middle between two numbers of fp16; the wrong kernel
/// adds in fp32, which loses the addend, and rounds once more.
template <bool right>
__global__ void half_fma(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i >= elements) return;
  const half a = from_float<half>(33.0f), b = from_float<half>(1.015625f);
  const half c = from_float<half>(__fmul_rn(in[i], 0x1p-24f));
  if (right) {
    out[i] = to_float(__hfma(a, b, c));
  } else {
    out[i] = to_float(from_float<half>(__fmaf_rn(to_float(a), to_float(b), to_float(c))));
  }
}

template <bool right>
void launch_half_fma(Stream& stream, const DeviceFaultArguments& a) {
  const auto blocks = static_cast<unsigned>((a.elements + threads - 1) / threads);
  launch<half_fma<right>>(stream, {blocks, threads}, a.in, a.out, a.elements);
}

const RegisterKernel registered_faults[] = {
    {"device_fault.half_fma", {.variant = "right"}, launch_half_fma<true>},
    {"device_fault.half_fma", {.variant = "~wrong"}, launch_half_fma<false>},
};

}  // namespace
}  // namespace tally::half_faults

// Holds one function of kernels/device/detmath.hpp to its promise on all 2^32 floats; the C library's binary64
// functions are the reference.
#include <bit>
#include <cstdint>
#include <cstdio>

#include "tests/kernels/device/detmath_accuracy.hpp"

int main(int count, char** arguments) {
  // glibc documents at most 2 ulp for these, of 53 bits: 2^-28 ulp of fp32.
  constexpr long double promised = 0.51L, reference_error = 0x1p-28L;
  for (const tally::Function& f : tally::functions()) {
    if (count != 2 || f.name != arguments[1]) continue;
    long double worst = 0;
    float at = 0;
    for (std::uint64_t bits = 0; bits < 1ull << 32; ++bits) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      const long double distance = tally::ulps(f.computed(x), f.libm(x));
      if (!(distance <= worst)) worst = distance, at = x;
    }
    std::printf("%s: worst %.7Lf ulp at %a\n", f.name.c_str(), worst, static_cast<double>(at));
    return worst <= promised + reference_error ? 0 : 1;
  }
  std::fprintf(stderr, "usage: detmath_full_sweep exp|exp2|log|tanh|erf|rsqrt\n");
  return 2;
}

// GELU with erf: y = x Phi(x), (gelu.1), and dx, (gelu.2), from x, rounded as kernels/arithmetic.md says; store S.
#include "kernels/activation/activation.hpp"
#include "kernels/activation/gelu_erf.hpp"

namespace tally::gelu_erf_kernel {
namespace {

const RegisterActivation<InFloat<GeluErf>> registered("gelu_none",
                                                      {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_erf_kernel

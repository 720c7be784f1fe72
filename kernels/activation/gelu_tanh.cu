// GELU by tanh: y = x/2 (1 + tanh(k (x + a x^3))), (gelu.3), and dx, (gelu.4), from x, rounded as kernels/arithmetic.md
// says; store S.
#include "kernels/activation/activation.hpp"
#include "kernels/activation/gelu_tanh.hpp"

namespace tally::gelu_tanh_kernel {
namespace {

const RegisterActivation<InFloat<GeluTanh>> registered("gelu_tanh",
                                                       {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_tanh_kernel

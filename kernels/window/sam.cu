// Sharpness-aware minimisation: the coefficient of (sam.1) and (sam.2), and the parameter by (sam.4) and (sam.5),
// rounded as kernels/arithmetic.md says.
//
//   norm, coefficient [] fp32   gradient [elements] fp32   parameter, kept [elements] M, in place
//
// One thread for the coefficient; one thread an element, grid-stride, for the parameter. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::sam_kernel {
namespace {

__global__ void coefficient_of(SamCoefficientArguments a) {
  const float divisor = __fadd_rn(*a.norm, a.epsilon);
  *a.coefficient = a.up && divisor != 0.0f ? __fdiv_rn(a.rho, divisor) : 1.0f;
}

template <class M>
__global__ void step(const float* gradient, M* parameter, M* kept, std::int64_t elements, float rate, bool up) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    if (up) kept[i] = parameter[i];
    const float from = to_float(kept[i]), g = gradient[i];
    parameter[i] = from_float<M>(up ? __fadd_rn(from, g) : __fsub_rn(from, __fmul_rn(rate, g)));
  }
}

void sam_coefficient(Stream& stream, const SamCoefficientArguments& a) { launch<coefficient_of>(stream, {1, 1}, a); }

void sam(Stream& stream, const SamArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<step<M>>(stream, a.elements, a.gradient, static_cast<M*>(a.parameter), static_cast<M*>(a.kept),
                             a.elements, a.rate, a.up);
  });
}

const RegisterKernel registered_coefficient("sam_coefficient", {.variant = "one_thread", .as_written = true},
                                            sam_coefficient);
const RegisterKernel registered("sam", {.variant = "grid_stride", .as_written = true}, sam);

}  // namespace
}  // namespace tally::sam_kernel

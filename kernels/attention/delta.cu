// What attention's backward takes off every product of a row: D = dy . y, (attention.4), rounded as
// kernels/attention/arithmetic.md says.
//
//   y, dy [rows, heads size] S   delta [rows, heads] fp32
//
// One thread a row and head, features in order.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally::delta_kernel {
namespace {

template <class S>
__global__ void dot_rows(const S* y, const S* dy, float* delta, std::int64_t elements, std::int64_t size) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t c = i * size; c < (i + 1) * size; ++c)
      sum = __fadd_rn(sum, __fmul_rn(to_float(dy[c]), to_float(y[c])));
    delta[i] = sum;
  }
}

void delta(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<dot_rows<S>>(stream, a.rows * a.heads, static_cast<const S*>(a.y), static_cast<const S*>(a.dy),
                                 a.delta, a.rows * a.heads, a.size);
  });
}

const RegisterKernel registered("attention.delta", {.variant = "dot_rows"}, delta);

}  // namespace
}  // namespace tally::delta_kernel

// Attention in three passes over the rows that a row sees: the largest score, the sum of the exponentials,
// (attention.2), and y, (attention.3), by weights that are normalised before they weigh; rounded as
// kernels/attention/arithmetic.md says. Weights that a mask drops are 0, those that it keeps scaled. `eager` stores
// products, scores, weights, and what the mask leaves of them in S, as modules of a framework leave them, one launch
// behind the other.
//
//   q, y [rows, heads size] S   k, v [rows, kv_heads size] S   lse [rows, heads] fp32   sums [rows, heads size] fp32
//   mask [heads, pairs] u8, or none
//
// One thread a row and head, keys in order.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally::forward_naive_kernel {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;

template <class S, bool stores>
__device__ float score_left(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  const float product = dot_in_order(at.query(row, head), at.key(key, at.group_of(head)), at.size);
  return stored<S, stores>(__fmul_rn(at.scale, stored<S, stores>(product)));
}

template <class S, bool stores>
__global__ void in_three_passes(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = at.group_of(head);
    const std::int64_t first = at.first_seen(row), last = at.last_seen(row);
    float maximum = __uint_as_float(minus_infinity), sum = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float t = score_left<S, stores>(at, row, head, j);
      maximum = t > maximum ? t : maximum;
    }
    for (std::int64_t j = first; j < last; ++j)
      sum = __fadd_rn(sum, det_exp(__fsub_rn(score_left<S, stores>(at, row, head, j), maximum)));
    at.lse[i] = __fadd_rn(maximum, det_log(sum));
    float* y = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) y[c] = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float weight = det_exp(__fsub_rn(score_left<S, stores>(at, row, head, j), maximum));
      const float p = stored<S, stores>(at.masked(stored<S, stores>(__fdiv_rn(weight, sum)), row, head, j));
      const S* value = at.value(j, group);
      for (std::int64_t c = 0; c < at.size; ++c) y[c] = __fmaf_rn(p, to_float(value[c]), y[c]);
    }
    for (std::int64_t c = 0; c < at.size; ++c) at.y[i * at.size + c] = from_float<S>(y[c]);
  }
}

template <bool stores>
void forward(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<in_three_passes<S, stores>>(stream, a.rows * a.heads, places_of<S>(a));
  });
}

KernelClaim claim(const char* variant) {
  return {.variant = variant, .algorithm = variant, .additions = {{SumStep::lanes, 1}}, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("attention.forward", claim("naive"), forward<false>);
const RegisterKernel registered_eager("attention.forward", claim("eager"), forward<true>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_naive_kernel

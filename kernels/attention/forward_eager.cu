// Attention as modules of a framework leave it, one launch behind the other: products, (attention.1), scores and
// weights, (attention.2), are each stored in S; y, (attention.3), is the sum of values by the stored weights; rounded as
// kernels/arithmetic.md says.
//
//   q, y [rows, heads size] S   k, v [rows, kv_heads size] S   lse [rows, heads] fp32   sums [rows, heads size] fp32
//
// One thread a row and head, keys in order; what is stored between the launches is rounded in registers.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;

template <class S>
__device__ float stored_score(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  const float product = dot_in_order(at.query(row, head), at.key(key, at.group_of(head)), at.size);
  return stored<S>(__fmul_rn(stored<S>(product), at.scale));
}

template <class S>
__global__ void by_stored_weights(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = at.group_of(head);
    const std::int64_t first = at.first_seen(row), last = at.last_seen(row);
    float maximum = __uint_as_float(minus_infinity), sum = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float t = stored_score(at, row, head, j);
      maximum = t > maximum ? t : maximum;
    }
    for (std::int64_t j = first; j < last; ++j)
      sum = __fadd_rn(sum, det_exp(__fsub_rn(stored_score(at, row, head, j), maximum)));
    at.lse[i] = __fadd_rn(maximum, det_log(sum));
    float* y = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) y[c] = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float p = stored<S>(__fdiv_rn(det_exp(__fsub_rn(stored_score(at, row, head, j), maximum)), sum));
      const S* value = at.value(j, group);
      for (std::int64_t c = 0; c < at.size; ++c) y[c] = __fmaf_rn(p, to_float(value[c]), y[c]);
    }
    for (std::int64_t c = 0; c < at.size; ++c) at.y[i * at.size + c] = from_float<S>(y[c]);
  }
}

void forward(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage,
             [&]<class S>(S) { launch_elements<by_stored_weights<S>>(stream, a.rows * a.heads, places_of<S>(a)); });
}

const RegisterKernel registered(
    "attention.forward",
    {.variant = "eager", .algorithm = "eager", .additions = {{SumStep::lanes, 1}}, .function_ulp = detmath_ulp},
    forward, KernelUse::when_named);

}  // namespace
}  // namespace tally

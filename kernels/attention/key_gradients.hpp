// P and dS, (attention.6), and the kernel that adds up dk and dv, (attention.5) and (attention.7): what all variants of
// attention's backward share, rounded as kernels/attention/arithmetic.md says.
#pragma once

#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// P, as it weighs dy, and dS of a row and a key.
struct Weighed {
  float p, ds;
};
template <class S, bool cast>
__device__ Weighed weighed(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  const std::int64_t i = row * at.heads + head;
  const float p = det_exp(__fsub_rn(score(at, row, head, key), at.lse[i]));
  const float dot = dot_in_order(at.dy + i * at.size, at.value(key, at.group_of(head)), at.size);
  const float ds = __fmul_rn(p, __fsub_rn(at.masked(dot, row, head, key), at.delta[i]));
  const float weight = at.masked(p, row, head, key);
  return cast ? Weighed{stored<S>(weight), stored<S>(ds)} : Weighed{weight, ds};
}

/// One thread a key and its head, the heads that read it one after another, rows in order.
template <class S, bool cast>
__global__ void key_gradients(AttentionPlaces<S> at) {
  const std::int64_t elements = at.rows * at.kv_heads;
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t key = i / at.kv_heads, group = i % at.kv_heads, readers = at.heads / at.kv_heads;
    float *dk = at.sums + i * at.size, *dv = at.sums + (elements + i) * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) dk[c] = dv[c] = 0.0f;
    for (std::int64_t head = group * readers; head < (group + 1) * readers; ++head) {
      for (std::int64_t row = at.first_seeing(key); row < at.last_seeing(key); ++row) {
        const Weighed w = weighed<S, cast>(at, row, head, key);
        const S *query = at.query(row, head), *dy = at.dy + (row * at.heads + head) * at.size;
        for (std::int64_t c = 0; c < at.size; ++c) {
          dk[c] = __fmaf_rn(w.ds, to_float(query[c]), dk[c]);
          dv[c] = __fmaf_rn(w.p, to_float(dy[c]), dv[c]);
        }
      }
    }
    for (std::int64_t c = 0; c < at.size; ++c) {
      at.dk[i * at.size + c] = from_float<S>(__fmul_rn(at.scale, dk[c]));
      at.dv[i * at.size + c] = from_float<S>(dv[c]);
    }
  }
}

}  // namespace TALLY_SIDE
}  // namespace tally

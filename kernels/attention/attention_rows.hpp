// What attention's kernels share: typed addresses, the rows that a row sees, and the products of two rows.
#pragma once

#include <cstdint>

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/stored.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <class S>
struct AttentionPlaces {
  const S *q, *k, *v, *dy;
  const std::int64_t *begin, *end;
  std::int64_t rows, heads, kv_heads, size, window;
  bool causal;
  float scale;
  S *y, *dq, *dk, *dv;
  float *lse, *delta, *sums;

  /// Addresses of a row's head.
  __device__ const S* query(std::int64_t row, std::int64_t head) const { return q + (row * heads + head) * size; }
  __device__ const S* key(std::int64_t row, std::int64_t group) const { return k + (row * kv_heads + group) * size; }
  __device__ const S* value(std::int64_t row, std::int64_t group) const { return v + (row * kv_heads + group) * size; }
  __device__ std::int64_t group_of(std::int64_t head) const { return head * kv_heads / heads; }
  /// The rows that a row sees: from `first` to `last` - 1.
  __device__ std::int64_t first_seen(std::int64_t row) const {
    const std::int64_t near = row - window + 1;
    return window > 0 && near > begin[row] ? near : begin[row];
  }
  __device__ std::int64_t last_seen(std::int64_t row) const {
    if (causal) return row + 1;
    return window > 0 && row + window < end[row] ? row + window : end[row];
  }
  /// The rows that see it.
  __device__ std::int64_t first_seeing(std::int64_t row) const { return causal ? row : first_seen(row); }
  __device__ std::int64_t last_seeing(std::int64_t row) const {
    return window > 0 && row + window < end[row] ? row + window : end[row];
  }
};

template <class S>
AttentionPlaces<S> places_of(const AttentionArguments& a) {
  const auto read = [](const void* address) { return static_cast<const S*>(address); };
  const auto write = [](void* address) { return static_cast<S*>(address); };
  return {read(a.q),   read(a.k),   read(a.v),   read(a.dy), a.begin,  a.end,   a.rows,
          a.heads,     a.kv_heads,  a.size,      a.window,   a.causal, a.scale, write(a.y),
          write(a.dq), write(a.dk), write(a.dv), a.lse,      a.delta,  a.sums};
}

/// The sum of products, one after another, fused.
template <class S>
__device__ float dot_in_order(const S* a, const S* b, std::int64_t size) {
  float sum = 0.0f;
  for (std::int64_t c = 0; c < size; ++c) sum = __fmaf_rn(to_float(a[c]), to_float(b[c]), sum);
  return sum;
}

/// (attention.1)
template <class S>
__device__ float score(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  return __fmul_rn(at.scale, dot_in_order(at.query(row, head), at.key(key, at.group_of(head)), at.size));
}

}  // namespace TALLY_SIDE
}  // namespace tally

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
  const std::uint8_t* mask;
  std::int64_t pairs;
  float kept;

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
  /// Whether a row keeps its weight of a key. The pairs before the row's sequence are counted back, length by length.
  __device__ bool keeps(std::int64_t row, std::int64_t head, std::int64_t key) const {
    if (mask == nullptr) return true;
    std::int64_t pair = (row - begin[row]) * (end[row] - begin[row]) + key - begin[row];
    for (std::int64_t next = begin[row]; next > 0; next = begin[next - 1])
      pair += (next - begin[next - 1]) * (next - begin[next - 1]);
    return mask[head * pairs + pair] != 0;
  }
  /// A weight, or a weight's gradient, as it is kept.
  __device__ float masked(float x, std::int64_t row, std::int64_t head, std::int64_t key) const {
    if (mask == nullptr) return x;
    return keeps(row, head, key) ? __fmul_rn(x, kept) : 0.0f;
  }
};

template <class S>
AttentionPlaces<S> places_of(const AttentionArguments& a) {
  const auto read = [](const void* address) { return static_cast<const S*>(address); };
  const auto write = [](void* address) { return static_cast<S*>(address); };
  return {read(a.q),   read(a.k), read(a.v), read(a.dy), a.begin, a.end,      a.rows,      a.heads,
          a.kv_heads,  a.size,    a.window,  a.causal,   a.scale, write(a.y), write(a.dq), write(a.dk),
          write(a.dv), a.lse,     a.delta,   a.sums,     a.mask,  a.pairs,    a.kept};
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

// What attention's kernels share: typed addresses, the rows that a row sees, the products of two rows; and of every
// backward, P, dS and the gradients of keys and values.
#pragma once

#include <cstdint>

#include "kernels/device/detmath.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

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

// P and dS, (attention.6), and the kernel that adds up dk and dv, (attention.5) and (attention.7): what all variants of
// attention's backward share, rounded as kernels/attention/arithmetic.md says.

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

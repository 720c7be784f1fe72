// Mean and sum of squared deviations of a sample that grows value by value (Welford) or by another sample (Chan). The
// weights fl(1/n) and fl(n_b/n) are one division each up to 2^24 values, the counts that fp32 holds.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct WelfordSample {
  float count = 0.0f, mean = 0.0f, squares = 0.0f;

  /// d = fl(x - mean), mean = fl(mean + fl(d fl(1/n))), squares = fl(squares + fl(d fl(x - mean))).
  __device__ void add(float x) {
    count = __fadd_rn(count, 1.0f);
    const float d = __fsub_rn(x, mean);
    mean = __fadd_rn(mean, __fmul_rn(d, __fdiv_rn(1.0f, count)));
    squares = __fadd_rn(squares, __fmul_rn(d, __fsub_rn(x, mean)));
  }

  /// d = fl(m_b - m_a), w = fl(n_b/n), mean = fl(m_a + fl(d w)), squares = fl(fl(M_a + M_b) + fl(fl(d d) fl(n_a w))).
  /// The other sample must be no larger than twice this one (oracle/variants.md).
  __device__ void add(const WelfordSample& other) {
    if (other.count == 0.0f) return;
    const float weight = __fdiv_rn(other.count, __fadd_rn(count, other.count));
    const float d = __fsub_rn(other.mean, mean);
    mean = __fadd_rn(mean, __fmul_rn(d, weight));
    squares = __fadd_rn(__fadd_rn(squares, other.squares), __fmul_rn(__fmul_rn(d, d), __fmul_rn(count, weight)));
    count = __fadd_rn(count, other.count);
  }
};

/// The whole row's sample in every lane. A lower lane takes in the higher one, which never holds more values, as lane l
/// has elements l, l + lanes, ...
template <int lanes>
__device__ inline WelfordSample row_sample(WelfordSample mine) {
  if constexpr (lanes > 1) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      WelfordSample other;
      other.count = __shfl_xor_sync(whole_warp, mine.count, distance);
      other.mean = __shfl_xor_sync(whole_warp, mine.mean, distance);
      other.squares = __shfl_xor_sync(whole_warp, mine.squares, distance);
      const bool upper = (threadIdx.x & static_cast<unsigned>(distance)) != 0;
      WelfordSample both = upper ? other : mine;
      both.add(upper ? mine : other);
      mine = both;
    }
  }
  return mine;
}

}  // namespace TALLY_SIDE
}  // namespace tally

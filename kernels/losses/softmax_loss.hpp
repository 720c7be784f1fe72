// Softmax cross-entropy, loss and gradient at once, for any way to a row's maximum and sum; and the way in three
// passes.
#pragma once

#include "kernels/device/detmath.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// Softmax cross-entropy, loss and gradient at once, with the row's maximum M and sum s of exp(z - M) left open.
// (cross_entropy.1) and (cross_entropy.3) are rounded as kernels/arithmetic.md says: nll_c is log(s) less z_c - M, and
// dz_c is factor (p_c - [c = t]) without smoothing and class weights, else factor (W p_c - a_c) with W = sum a_c.
// The loss, (cross_entropy.2), is nll_t, or fl(fl(fl(keep w_t) nll_t) + fl(spread * sum fl(w_c nll_c))) with keep for
// 1 - smoothing and spread for smoothing / C; a_c = fl(fl(keep w_t) [c = t] + fl(spread w_c)). An ignored row is
// exactly 0; store S. With a z-loss, (cross_entropy.4), L = fl(M + log s): the row's loss takes fl(fl(z_loss w_t)
// fl(L L)) on top, and W p_c - a_c takes fl(fl(fl(2 z_loss w_t) L) p_c).
//
// `Softmax::of<S, lanes>(z, classes, lane)` gives a row's M and s in every lane. Up to 32 classes one thread a row;
// from 33 a warp a row, as kernels/reduction/row_sum.hpp.

/// The largest logit, and the sum of exp(z - maximum).
struct ExponentialSum {
  float maximum, sum;
};

/// The softmax of one row, as its thread or warp sees it.
template <class S, int lanes>
struct SoftmaxRow {
  const S* z;
  std::int64_t classes;
  int lane;
  float maximum, sum, log_sum;

  __device__ SoftmaxRow(const S* row, std::int64_t count, int my_lane, ExponentialSum exponentials)
      : z(row), classes(count), lane(my_lane), maximum(exponentials.maximum), sum(exponentials.sum) {
    log_sum = det_log(sum);
  }
  __device__ float probability(std::int64_t c) const {
    return __fdiv_rn(det_exp(__fsub_rn(to_float(z[c]), maximum)), sum);
  }
  __device__ float nll(std::int64_t c) const { return __fsub_rn(log_sum, __fsub_rn(to_float(z[c]), maximum)); }
};

struct Smoothing {
  const float* class_weight;
  float keep, spread;
  bool smoothed;
  float z_loss;
  __device__ float weight(std::int64_t c) const { return class_weight != nullptr ? class_weight[c] : 1.0f; }
  __device__ float share(std::int64_t c, std::int64_t target) const {
    const float spread_share = smoothed ? __fmul_rn(spread, weight(c)) : 0.0f;
    return c == target ? __fadd_rn(__fmul_rn(keep, weight(c)), spread_share) : spread_share;
  }
};

template <class S, int lanes>
__device__ float plain_row(const SoftmaxRow<S, lanes>& row, std::int64_t target, float factor, S* dz) {
  for (std::int64_t c = row.lane; c < row.classes; c += lanes) {
    const float hit = c == target ? 1.0f : 0.0f;
    dz[c] = from_float<S>(__fmul_rn(factor, __fsub_rn(row.probability(c), hit)));
  }
  return row.nll(target);
}

template <class S, int lanes>
__device__ float weighted_row(const SoftmaxRow<S, lanes>& row, std::int64_t target, float factor,
                              const Smoothing& smoothing, S* dz) {
  float shares = 0.0f, nll_sum = 0.0f;
  for (std::int64_t c = row.lane; c < row.classes; c += lanes) {
    shares = __fadd_rn(shares, smoothing.share(c, target));
    if (smoothing.smoothed) nll_sum = __fadd_rn(nll_sum, __fmul_rn(smoothing.weight(c), row.nll(c)));
  }
  shares = row_total<lanes>(shares);
  nll_sum = row_total<lanes>(nll_sum);
  const bool squares = smoothing.z_loss != 0.0f;
  const float lse = __fadd_rn(row.maximum, row.log_sum), of_target = smoothing.weight(target);
  const float pull = __fmul_rn(__fmul_rn(__fmul_rn(2.0f, smoothing.z_loss), of_target), lse);
  for (std::int64_t c = row.lane; c < row.classes; c += lanes) {
    const float p = row.probability(c);
    float q = __fsub_rn(__fmul_rn(shares, p), smoothing.share(c, target));
    if (squares) q = __fadd_rn(q, __fmul_rn(pull, p));
    dz[c] = from_float<S>(__fmul_rn(factor, q));
  }
  const float kept = __fmul_rn(__fmul_rn(smoothing.keep, smoothing.weight(target)), row.nll(target));
  const float row_loss = smoothing.smoothed ? __fadd_rn(kept, __fmul_rn(smoothing.spread, nll_sum)) : kept;
  if (!squares) return row_loss;
  return __fadd_rn(row_loss, __fmul_rn(__fmul_rn(smoothing.z_loss, of_target), __fmul_rn(lse, lse)));
}

template <class Softmax, class S, int lanes, bool plain>
__global__ void softmax_loss(const S* z, const std::int64_t* target, Smoothing smoothing, float* loss, S* dz,
                             std::int64_t rows, std::int64_t classes, std::int64_t ignore_index, float factor) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    S* row_dz = dz + row * classes;
    float row_loss = 0.0f;
    if (target[row] == ignore_index) {
      for (std::int64_t c = place.lane; c < classes; c += lanes) row_dz[c] = from_float<S>(0.0f);
    } else {
      const S* row_z = z + row * classes;
      const SoftmaxRow<S, lanes> softmax(row_z, classes, place.lane,
                                         Softmax::template of<S, lanes>(row_z, classes, place.lane));
      row_loss = plain ? plain_row<S, lanes>(softmax, target[row], factor, row_dz)
                       : weighted_row<S, lanes>(softmax, target[row], factor, smoothing, row_dz);
    }
    if (place.lane == 0) loss[row] = row_loss;
  }
}

template <class Softmax, class S, int lanes, bool plain>
void launch_loss(Stream& stream, const CrossEntropyArguments& a) {
  launch_rows<lanes, softmax_loss<Softmax, S, lanes, plain>>(
      stream, a.rows, static_cast<const S*>(a.z), a.target,
      Smoothing{a.class_weight, a.keep, a.spread, a.smoothed, a.z_loss}, a.loss, static_cast<S*>(a.dz), a.rows,
      a.classes, a.ignore_index, a.factor);
}

template <class Softmax>
void launch_cross_entropy(Stream& stream, const CrossEntropyArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.classes, [&]<int lanes>() {
      const bool plain = a.class_weight == nullptr && !a.smoothed && a.z_loss == 0;
      if (plain || declaring_paths()) {
        const LaunchPart part("plain");
        launch_loss<Softmax, S, lanes, true>(stream, a);
      }
      if (!plain || declaring_paths()) {
        const LaunchPart part("smoothed or weighted");
        launch_loss<Softmax, S, lanes, false>(stream, a);
      }
    });
  });
}

// The softmax of a row in three passes: M = max z and s = sum exp(fl(z - M)), then what is asked of its probabilities.
// Up to 32 classes one thread a row, classes added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.

struct ThreePass {
  template <class S, int lanes>
  static __device__ ExponentialSum of(const S* z, std::int64_t classes, int lane) {
    float maximum = to_float(z[0]);
    for (std::int64_t c = lane; c < classes; c += lanes) maximum = to_float(z[c]) > maximum ? to_float(z[c]) : maximum;
    maximum = row_maximum<lanes>(maximum);
    float sum = 0.0f;
    for (std::int64_t c = lane; c < classes; c += lanes) {
      sum = __fadd_rn(sum, det_exp(__fsub_rn(to_float(z[c]), maximum)));
    }
    return {maximum, row_total<lanes>(sum)};
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally

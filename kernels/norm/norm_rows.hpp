// What the kernels of norms over a row share with their variants: layer norm's forward by any statistics, where RMS
// norm rounds, and the way back through it and the sum before it.
#pragma once

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {

// Layer norm's forward with the row's statistics left open: rstd, (layer_norm.3), then (x - mean) rstd w + b from left
// to right, (layer_norm.4), rounded as kernels/arithmetic.md says; store S.
// `Statistics::of<S, lanes>(row, features, lane, inverse_features)` gives a row's mean and variance in every lane.
//
// Up to 32 features one thread a row; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
inline namespace TALLY_SIDE {

struct RowMoments {
  float mean, variance;
};

template <class Statistics, class S, int lanes>
__global__ void normalise_rows(const S* x, const S* weight, const S* bias, float* mean, float* rstd, S* y,
                               std::int64_t rows, std::int64_t features, float inverse_features, float eps) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const S* row_x = x + row * features;
    const RowMoments moments = Statistics::template of<S, lanes>(row_x, features, place.lane, inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(moments.variance, eps)));
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      float value = __fmul_rn(__fsub_rn(to_float(row_x[j]), moments.mean), scale);
      if (weight != nullptr) value = __fadd_rn(__fmul_rn(value, to_float(weight[j])), to_float(bias[j]));
      y[row * features + j] = from_float<S>(value);
    }
    if (place.lane == 0) {
      mean[row] = moments.mean;
      rstd[row] = scale;
    }
  }
}

template <class Statistics>
void launch_normalisation(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, normalise_rows<Statistics, S, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.weight), static_cast<const S*>(a.bias),
          a.mean, a.rstd, static_cast<S*>(a.y), a.rows, a.features, a.inverse_features, a.eps);
    });
  });
}

}  // namespace TALLY_SIDE

// Where an RMS norm of 16 bits rounds: x rstd is a float until it is multiplied by the weight, or is stored in S before,
// as Transformers' modules have it, whose backward stores dy w and dy h as well.

enum class Casting { last, first };

/// What is multiplied by the weight, or comes from such a product.
template <class S, Casting casting>
__device__ float on_the_way(float value) {
  if constexpr (casting == Casting::first) return to_float(from_float<S>(value));
  return value;
}

// Back through an RMS norm and the residual sum before it: dx = rstd (g - h mean of g h), (rms_norm.3), stored S; then
// the sum's gradient, dx and what its other reader gives, (add.3), of the bits that are stored. `How` says what goes
// into the norm and what comes out of the sum.
//
//   x, dy, dx, residual, sum [rows, features] S   rstd [rows] fp32   w [features] S, or none (w' = 1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
inline namespace TALLY_SIDE {

/// What a fault does otherwise hides one of these.
struct ThroughBothAsItShould {
  static __device__ float into_the_norm(float dy, float) { return dy; }
  static __device__ float out_of_the_sum(float dx, float residual) { return __fadd_rn(dx, residual); }
};

template <class S, class How, int lanes>
__global__ void through_both(const S* x, const S* dy, const S* residual, const S* weight, const float* rstd, S* dx,
                             S* sum, std::int64_t rows, std::int64_t features, float inverse_features, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    const auto weighted = [&](std::int64_t j) {
      const float gradient = How::into_the_norm(to_float(dy[start + j]), to_float(residual[start + j]));
      return weight != nullptr ? __fmul_rn(gradient, __fadd_rn(offset, to_float(weight[j]))) : gradient;
    };
    float products = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      products = __fadd_rn(products, __fmul_rn(weighted(j), h));
    }
    const float m = __fmul_rn(row_total<lanes>(products), inverse_features);
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      const S stored = from_float<S>(__fmul_rn(rstd[row], __fsub_rn(weighted(j), __fmul_rn(h, m))));
      dx[start + j] = stored;
      sum[start + j] = from_float<S>(How::out_of_the_sum(to_float(stored), to_float(residual[start + j])));
    }
  }
}

template <class How>
void launch_through_both(Stream& stream, const AddNormBackwardArguments& a) {
  const NormBackwardArguments& norm = a.norm;
  by_storage(norm.storage, [&]<class S>(S) {
    by_row_lanes(norm.features, [&]<int lanes>() {
      launch_rows<lanes, through_both<S, How, lanes>>(
          stream, norm.rows, static_cast<const S*>(norm.x), static_cast<const S*>(norm.dy),
          static_cast<const S*>(a.residual), static_cast<const S*>(norm.weight), norm.rstd, static_cast<S*>(norm.dx),
          static_cast<S*>(a.sum), norm.rows, norm.features, norm.inverse_count, norm.offset);
    });
  });
}

}  // namespace TALLY_SIDE
}  // namespace tally

// Layer norm's forward with the row's statistics left open: rstd, (layer_norm.3), then (x - mean) rstd w + b from left
// to right, (layer_norm.4), rounded as kernels/arithmetic.md says; store S.
// `Statistics::of<S, lanes>(row, features, lane, inverse_features)` gives a row's mean and variance in every lane.
//
// Up to 32 features one thread a row; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#pragma once

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
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
}  // namespace tally

// Back through an RMS norm and the residual sum before it: dx = rstd (g - h mean of g h), (rms_norm.3), stored S; then
// the sum's gradient, dx and what its other reader gives, (add.3), of the bits that are stored. `How` says what goes
// into the norm and what comes out of the sum.
//
//   x, dy, dx, residual, sum [rows, features] S   rstd [rows] fp32   w [features] S, or none (w' = 1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#pragma once

#include "kernels/add_norm/arguments.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
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

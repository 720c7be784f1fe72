// The softmax of a row in three passes: M = max z and s = sum exp(fl(z - M)), then what is asked of its probabilities.
// Up to 32 classes one thread a row, classes added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#pragma once

#include "kernels/cross_entropy/softmax_loss.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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

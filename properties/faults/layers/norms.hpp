// RMS norm, and the way back through a norm and its sum, with what a fault does otherwise.
#pragma once

#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_rows.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// RMS norm with what a fault does otherwise: a struct that derives from `NormAsItShould` and hides one of its
// functions.

struct NormAsItShould {
  static __device__ float rstd(float mean, float eps) { return __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(mean, eps))); }
  template <class S>
  static __device__ float weight(float offset, S w) {
    return __fadd_rn(offset, to_float(w));
  }
  /// x rstd, as the weight multiplies it.
  template <class S>
  static __device__ float normalised(float h) {
    return h;
  }
};

template <class S, class Otherwise>
__global__ void norm_otherwise(const S* x, const S* weight, float* rstd, S* y, std::int64_t rows, std::int64_t features,
                               float inverse_features, float eps, float offset) {
  for (std::int64_t row = first_element(); row < rows; row += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t j = 0; j < features; ++j) {
      const float value = to_float(x[row * features + j]);
      sum = __fadd_rn(sum, __fmul_rn(value, value));
    }
    rstd[row] = Otherwise::rstd(__fmul_rn(sum, inverse_features), eps);
    for (std::int64_t j = 0; j < features; ++j) {
      const float h = Otherwise::template normalised<S>(__fmul_rn(to_float(x[row * features + j]), rstd[row]));
      y[row * features + j] = from_float<S>(weight != nullptr ? __fmul_rn(h, Otherwise::weight(offset, weight[j])) : h);
    }
  }
}

/// A launcher of rms_norm.forward: what lies between the shipped kernel and this one.
template <class Otherwise>
void planted_norm(Stream& stream, const NormForwardArguments& a) {
  const auto wrong = [](Stream& on, const NormForwardArguments& with) {
    by_storage(with.storage, [&]<class S>(S) {
      launch_elements<norm_otherwise<S, Otherwise>>(
          on, with.rows, static_cast<const S*>(with.x), static_cast<const S*>(with.weight), with.rstd,
          static_cast<S*>(with.y), with.rows, with.features, with.inverse_features, with.eps, with.offset);
    });
  };
  between_kernels<NormForwardArguments>(stream, a,
                                        {{a.y, a.storage, a.rows * a.features}, {a.rstd, Dtype::fp32, a.rows}},
                                        "rms_norm.forward", "row_lanes", +wrong);
}

// Back through a norm and its sum with something done otherwise: a struct that derives from ThroughBothAsItShould and
// hides one of its functions.

/// A launcher of add_norm.backward: what lies between the shipped kernel and this one.
template <class Otherwise>
void planted_add_norm(Stream& stream, const AddNormBackwardArguments& a) {
  const std::int64_t elements = a.norm.rows * a.norm.features;
  between_kernels(stream, a, {{a.norm.dx, a.norm.storage, elements}, {a.sum, a.norm.storage, elements}},
                  "add_norm.backward", "fused", launch_through_both<Otherwise>);
}

}  // namespace TALLY_SIDE
}  // namespace tally

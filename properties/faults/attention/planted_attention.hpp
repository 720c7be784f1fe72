// Attention by pairs of keys, as kernels/attention/forward.cu, with what a fault does otherwise: a struct that
// derives from `AsItShould` and hides one of its functions.
#pragma once

#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct AsItShould {
  template <class S>
  static __device__ std::int64_t first_seen(const AttentionPlaces<S>& at, std::int64_t row) {
    return at.first_seen(row);
  }
  template <class S>
  static __device__ std::int64_t last_seen(const AttentionPlaces<S>& at, std::int64_t row) {
    return at.last_seen(row);
  }
  template <class S>
  static __device__ std::int64_t group_of(const AttentionPlaces<S>& at, std::int64_t head) {
    return at.group_of(head);
  }
  /// The output so far, by what a larger score scales it.
  static __device__ float scaled(float y, float factor) { return __fmul_rn(y, factor); }
  /// The sum of the exponentials, and its logarithm.
  template <class S>
  static __device__ float added(float sum, float more) {
    return __fadd_rn(sum, more);
  }
  static __device__ float logarithm(float sum) { return det_log(sum); }
};

template <class S, class Otherwise>
__global__ void attention_otherwise(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = Otherwise::group_of(at, head);
    const std::int64_t last = Otherwise::last_seen(at, row);
    float maximum = __uint_as_float(0xff800000u), sum = 0.0f;
    float* y = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) y[c] = 0.0f;
    for (std::int64_t j = Otherwise::first_seen(at, row); j < last; ++j) {
      const float t = __fmul_rn(at.scale, dot_in_order(at.query(row, head), at.key(j, group), at.size));
      const float larger = t > maximum ? t : maximum;
      const float factor = maximum == larger ? 1.0f : det_exp(__fsub_rn(maximum, larger));
      const float weight = det_exp(__fsub_rn(t, larger));
      maximum = larger;
      sum = Otherwise::template added<S>(__fmul_rn(sum, factor), weight);
      const float weighs = at.keeps(row, head, j) ? weight : 0.0f;
      for (std::int64_t c = 0; c < at.size; ++c)
        y[c] = __fmaf_rn(weighs, to_float(at.value(j, group)[c]), Otherwise::scaled(y[c], factor));
    }
    at.lse[i] = __fadd_rn(maximum, Otherwise::logarithm(sum));
    for (std::int64_t c = 0; c < at.size; ++c)
      at.y[i * at.size + c] = from_float<S>(__fmul_rn(__fdiv_rn(y[c], sum), at.kept));
  }
}

/// A launcher of attention.forward: what lies between the shipped kernel and this one.
template <class Otherwise>
void planted_attention(Stream& stream, const AttentionArguments& a) {
  const auto wrong = [](Stream& on, const AttentionArguments& with) {
    by_storage(with.storage, [&]<class S>(S) {
      launch_elements<attention_otherwise<S, Otherwise>>(on, with.rows * with.heads, places_of<S>(with));
    });
  };
  between_kernels<AttentionArguments>(
      stream, a, {{a.y, a.storage, a.rows * a.heads * a.size}, {a.lse, Dtype::fp32, a.rows * a.heads}},
      "attention.forward", "naive", +wrong);
}

/// What a fault of attention.forward claims: any order, and Tally's own functions.
inline KernelClaim planted_claim(const std::string& fault) {
  return {.variant = "~" + fault, .algorithm = "online", .function_ulp = detmath_ulp};
}

}  // namespace TALLY_SIDE
}  // namespace tally

// The storage formats of kernels: float, tally::half (binary16), tally::bfloat16. Under nvcc the 16-bit types are
// CUDA's; on the host they are Tally's own two bytes, with the same conversions, bit for bit.
//
// to_float is exact. from_float rounds once, to nearest even, subnormals included; overflow gives infinity, a NaN gives
// the format's 0x7fff. Kernels compute in fp32, or in 16 bits by CUDA's words: __hadd_rn, __hsub_rn, __hmul_rn, __hfma,
// comparisons and conversions (kernels/device/host/half_*.hpp). There are no operators: nvcc may fuse them.
#pragma once

#include "kernels/device/cuda_words.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include "kernels/device/host/half_conversions.hpp"
#endif

#include "oracle/case/tensors/tensor.hpp"

namespace tally {
inline namespace TALLY_SIDE {

#ifdef __CUDACC__

using half = __half;
using bfloat16 = __nv_bfloat16;

__host__ __device__ inline float to_float(half value) { return __half2float(value); }
__host__ __device__ inline float to_float(bfloat16 value) { return __bfloat162float(value); }

template <class S>
__host__ __device__ inline S from_float(float value);
template <>
__host__ __device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__host__ __device__ inline half from_float<half>(float value) {
  return __float2half_rn(value);
}
template <>
__host__ __device__ inline bfloat16 from_float<bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

#else

inline float to_float(half value) { return static_cast<float>(value); }
inline float to_float(bfloat16 value) { return static_cast<float>(value); }

template <class S>
inline S from_float(float value) {
  return S(value);
}

#endif

__host__ __device__ inline float to_float(float value) { return value; }

/// The Dtype of a kernels' type.
template <class S>
constexpr Dtype dtype_of_storage() = delete;
template <>
constexpr Dtype dtype_of_storage<float>() {
  return Dtype::fp32;
}
template <>
constexpr Dtype dtype_of_storage<half>() {
  return Dtype::fp16;
}
template <>
constexpr Dtype dtype_of_storage<bfloat16>() {
  return Dtype::bf16;
}

/// Calls `use` with a value of the kernels' type of a format: the one place that knows which it is. Throws
/// std::invalid_argument, which names the format and the caller, where there is none.
template <class Use>
auto with_type_of(Dtype dtype, Use use, std::source_location at = std::source_location::current()) {
  switch (dtype) {
    case Dtype::fp32:
      return use(float{});
    case Dtype::fp16:
      return use(half{});
    case Dtype::bf16:
      return use(bfloat16{});
    default:
      throw unsupported_format(dtype, "kernel", at);
  }
}

/// `value` after it was stored in a format. Throws as with_type_of.
inline float stored_in(Dtype dtype, float value) {
  return with_type_of(dtype, [value]<class S>(S) { return to_float(from_float<S>(value)); });
}

}  // namespace TALLY_SIDE
}  // namespace tally

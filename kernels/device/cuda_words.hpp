// CUDA's own words, for every .cu. Under nvcc they are CUDA's; elsewhere the host executor's, in namespace tally, so
// that the same text runs on both. With TALLY_CHECKED the host executor's come with hooks: the checked side. What
// differs between the sides lives in the inline namespace TALLY_SIDE, so that all objects of a .cu link into one
// program; kernels stand in an anonymous namespace inside namespace tally.
//
// Shared memory is declared by TALLY_SHARED(T, name, sizes...) and TALLY_DYNAMIC_SHARED(T, name), never by the bare
// word __shared__: the host poisons it for every block and checks every index. A function takes it as
// Shared<T, sizes...>, by value. There is no inline PTX, no libm (kernels/device/detmath.hpp instead), no warp size
// but 32.
#pragma once

#include <cstddef>

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define TALLY_SIDE on_cuda

namespace tally {
inline namespace TALLY_SIDE {

template <class T, std::size_t... sizes>
struct SharedArray {
  using type = T;
};
template <class T, std::size_t size, std::size_t... rest>
struct SharedArray<T, size, rest...> {
  using type = typename SharedArray<T, rest...>::type[size];
};
/// A block's shared array, as a function's parameter.
template <class T, std::size_t... sizes>
using Shared = typename SharedArray<T, sizes...>::type&;

}  // namespace TALLY_SIDE
}  // namespace tally

#define TALLY_SHARED(T, name, ...) __shared__ typename ::tally::SharedArray<T, __VA_ARGS__>::type name
#define TALLY_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char tally_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(tally_dynamic_shared)

#else

#ifdef TALLY_CHECKED
#define TALLY_SIDE on_checked
#else
#define TALLY_SIDE on_host
#endif
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#include "kernels/device/host/arithmetic.hpp"
#include "kernels/device/host/atomics.hpp"
#include "kernels/device/host/indices.hpp"
#include "kernels/device/host/shared.hpp"
#include "kernels/device/host/synchronise.hpp"
#ifdef TALLY_CHECKED
#include "kernels/device/host/unobserved_indices.hpp"
#endif

#endif

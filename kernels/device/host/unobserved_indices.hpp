// On the checked side, kernels read threadIdx and its like past the hooks: they are the executor's variables, not the
// kernel's memory, and every kernel reads them all the time.
#pragma once

#include "kernels/device/executor/block.hpp"
#include "kernels/device/host/indices.hpp"

#if defined(TALLY_CHECKED) && defined(__x86_64__)

#define TALLY_UNOBSERVED_PART(name, part)                                \
  __declspec(property(get = get_##part)) unsigned part;                  \
  static inline __attribute__((always_inline)) unsigned get_##part() {   \
    unsigned value;                                                      \
    asm("movl %1, %0" : "=r"(value) : "m"(::tally::on_host::name.part)); \
    return value;                                                        \
  }
#define TALLY_UNOBSERVED_INDEX(name)                               \
  struct Unobserved_##name {                                       \
    TALLY_UNOBSERVED_PART(name, x)                                 \
    TALLY_UNOBSERVED_PART(name, y)                                 \
    TALLY_UNOBSERVED_PART(name, z)                                 \
    operator uint3() const { return {get_x(), get_y(), get_z()}; } \
  };                                                               \
  inline constexpr Unobserved_##name unobserved_##name{};

namespace tally {
inline namespace TALLY_SIDE {

TALLY_UNOBSERVED_INDEX(threadIdx)
TALLY_UNOBSERVED_INDEX(blockIdx)
TALLY_UNOBSERVED_INDEX(blockDim)
TALLY_UNOBSERVED_INDEX(gridDim)

}  // namespace TALLY_SIDE
}  // namespace tally

#define threadIdx unobserved_threadIdx
#define blockIdx unobserved_blockIdx
#define blockDim unobserved_blockDim
#define gridDim unobserved_gridDim

#endif

// Atomics. Threads of one launch share an operating-system thread and switch only where they wait, so a plain
// read-modify-write is one. All return the old value.
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/shared_memory.hpp"

namespace tally {
inline namespace TALLY_SIDE {

#ifdef TALLY_CHECKED
extern "C" void tally_check_atomic(void* address, std::size_t bytes, const void* code);
#define TALLY_ATOMIC __attribute__((always_inline))
#define TALLY_UNOBSERVED __attribute__((no_sanitize("thread"), noinline))
#define TALLY_OBSERVE_ATOMIC(address) tally_check_atomic(address, sizeof *address, __builtin_return_address(0))
#else
#define TALLY_ATOMIC
#define TALLY_UNOBSERVED
#define TALLY_OBSERVE_ATOMIC(address)
#endif

template <class T, class Change>
TALLY_UNOBSERVED T exchange_at(T* address, Change change) {
  TALLY_OBSERVE_ATOMIC(address);
  const T old = *address;
  *address = change(old);
  return old;
}

/// Zero of the same sign for a subnormal.
inline float flush_subnormal(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

/// On global memory the hardware flushes subnormal operands and results, whatever --ftz says; on shared memory never.
TALLY_ATOMIC inline float atomicAdd(float* address, float value) {
  if (executor::is_shared(address)) {
    return exchange_at(address, [&](float old) { return old + value; });
  }
  return exchange_at(address,
                     [&](float old) { return flush_subnormal(flush_subnormal(old) + flush_subnormal(value)); });
}
TALLY_ATOMIC inline double atomicAdd(double* address, double value) {
  return exchange_at(address, [&](double old) { return old + value; });
}
TALLY_ATOMIC inline int atomicAdd(int* address, int value) {
  return exchange_at(
      address, [&](int old) { return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)); });
}
TALLY_ATOMIC inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return exchange_at(address, [&](unsigned old) { return old + value; });
}
TALLY_ATOMIC inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return exchange_at(address, [&](unsigned long long old) { return old + value; });
}

// T: int, unsigned, unsigned long long; atomicExch float as well.
template <class T>
TALLY_ATOMIC inline T atomicMax(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old < value ? value : old; });
}
template <class T>
TALLY_ATOMIC inline T atomicMin(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return value < old ? value : old; });
}
template <class T>
TALLY_ATOMIC inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old | value; });
}
template <class T>
TALLY_ATOMIC inline T atomicAnd(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old & value; });
}
template <class T>
TALLY_ATOMIC inline T atomicExch(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T) { return value; });
}
template <class T>
TALLY_ATOMIC inline T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old == expected ? value : old; });
}

/// The executor's memory is sequentially consistent: a missing fence does not show in values, but the checker knows.
inline void __threadfence() { checker::fence(); }
inline void __threadfence_block() { checker::fence(); }

}  // namespace TALLY_SIDE
}  // namespace tally

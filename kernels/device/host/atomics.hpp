// Atomics. Threads of one launch share an operating-system thread and switch only where they wait, so a plain
// read-modify-write is one. All return the old value.
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/device/executor/shared_memory.hpp"

namespace tally {
inline namespace on_host {

template <class T, class Change>
T exchange_at(T* address, Change change) {
  const T old = *address;
  *address = change(old);
  return old;
}

/// Zero of the same sign for a subnormal.
inline float flush_subnormal(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

/// On global memory the hardware flushes subnormal operands and results, whatever --ftz says; on shared memory never.
inline float atomicAdd(float* address, float value) {
  if (executor::is_shared(address)) {
    return exchange_at(address, [&](float old) { return old + value; });
  }
  return exchange_at(address,
                     [&](float old) { return flush_subnormal(flush_subnormal(old) + flush_subnormal(value)); });
}
inline double atomicAdd(double* address, double value) {
  return exchange_at(address, [&](double old) { return old + value; });
}
inline int atomicAdd(int* address, int value) {
  return exchange_at(
      address, [&](int old) { return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)); });
}
inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return exchange_at(address, [&](unsigned old) { return old + value; });
}
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return exchange_at(address, [&](unsigned long long old) { return old + value; });
}

// T: int, unsigned, unsigned long long; atomicExch float as well.
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old < value ? value : old; });
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return value < old ? value : old; });
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old | value; });
}
template <class T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old & value; });
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T) { return value; });
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return exchange_at(address, [&](T old) { return old == expected ? value : old; });
}

/// Nothing to do: the executor's memory is sequentially consistent. A missing fence does not show here.
inline void __threadfence() {}
inline void __threadfence_block() {}

}  // namespace on_host
}  // namespace tally

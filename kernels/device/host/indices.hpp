// Where a thread stands. The executor sets these before a thread runs and restores them when it goes on.
#pragma once

namespace tally {
inline namespace on_host {

struct uint3 {
  unsigned x, y, z;
  friend constexpr bool operator==(const uint3&, const uint3&) = default;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1) : x(x_size), y(y_size), z(z_size) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local uint3 blockIdx{};
inline constinit thread_local uint3 blockDim{1, 1, 1};
inline constinit thread_local uint3 gridDim{1, 1, 1};
inline constexpr int warpSize = 32;

}  // namespace on_host
}  // namespace tally

// What devices are made of: the one behind each executor, and the zones around every buffer.
// Defined in host_device.cpp, kernels/device/cuda/cuda_device.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/device/device.hpp"

namespace tally {

// The devices behind device(): one function each.

Device& host_device();
/// Throws DeviceAbsent. What its kernels may touch lies in one range, kernels/device/checker/shadow.hpp.
Device& checked_device();
/// Throws DeviceAbsent, CudaError. Only in builds with CUDA.
Device& cuda_device();

// The zones before and behind every buffer, and what was written into them.

/// Bytes on each side; keeps a buffer aligned as the device aligns memory.
inline constexpr std::size_t guard_bytes = 256;

/// The pattern depends on the buffer's number and the place, so a copy of some other zone is no intact zone.
void write_guards(Device& device, std::byte* data, std::size_t bytes, std::uint64_t number);

/// One line naming buffer, side, number of bytes and the first offset for each damaged zone; empty when intact.
std::string guard_damage(Device& device, const std::byte* data, std::size_t bytes, std::uint64_t number,
                         const std::string& name);

}  // namespace tally

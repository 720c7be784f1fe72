// The devices behind device(): one function each.
// Defined in kernels/device/cuda/cuda_device.cpp, host_device.cpp.
#pragma once

#include "kernels/device/device.hpp"

namespace tally {

Device& host_device();
/// Throws DeviceAbsent. What its kernels may touch lies in one range, kernels/device/checker/memory.hpp.
Device& checked_device();
/// Throws DeviceAbsent, CudaError. Only in builds with CUDA.
Device& cuda_device();

}  // namespace tally

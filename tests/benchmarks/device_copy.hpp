// A copy within a device's memory, what the passes over all parameters are measured against.
#pragma once

#include <cstddef>

namespace tally::benchmarks {

/// The operation "bench.copy": `bytes` from one address of the device to another, by the device's own means.
struct DeviceCopy {
  const void* from;
  void* to;
  std::size_t bytes;
};

}  // namespace tally::benchmarks

// Kernels that measure the executors: nothing but barriers, an elementwise one, and three that work as shipped ones do.
#pragma once

#include <cstdint>

namespace tally::benchmarks {

/// in and out fp32 [elements]; `barriers` is how often each thread waits. Launched in blocks of 256 threads.
struct ExecutorWork {
  const float* in;
  float* out;
  std::int64_t elements;
  int barriers;
};

}  // namespace tally::benchmarks

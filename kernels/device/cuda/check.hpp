// CUDA runtime calls that fail throw.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace tally {

/// Throws CudaError with the runtime's text and the call site.
void check_cuda(cudaError_t status, std::source_location at = std::source_location::current());

}  // namespace tally

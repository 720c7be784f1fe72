#include "kernels/device/cuda/check.hpp"

#include <string>

#include "kernels/device/device.hpp"

namespace tally {

void check_cuda(cudaError_t status, std::source_location at) {
  if (status == cudaSuccess) return;
  throw CudaError(std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status), at);
}

}  // namespace tally

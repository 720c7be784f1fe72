// The copy of device_benchmark.cpp: the CUDA runtime's from device to device, memcpy on the host executor.
#include <cstring>

#include "kernels/device/kernel_registry.hpp"
#include "tests/benchmarks/device_copy.hpp"

namespace tally {
namespace {

void copy(Stream& stream, const benchmarks::DeviceCopy& a) {
#ifdef __CUDACC__
  const auto on = static_cast<cudaStream_t>(stream.handle());
  check_cuda(cudaMemcpyAsync(a.to, a.from, a.bytes, cudaMemcpyDeviceToDevice, on));
#else
  stream.synchronize();
  std::memcpy(a.to, a.from, a.bytes);
#endif
}

const RegisterKernel registered("bench.copy", {.variant = "of_the_runtime"}, copy);

}  // namespace
}  // namespace tally

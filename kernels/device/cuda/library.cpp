// CUDA's calls, which throw where they fail, and the toolkit's libraries, opened at first use.
#include "kernels/device/cuda/library.hpp"

#include <dlfcn.h>

#include <string>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/device.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

void check_cuda(cudaError_t status, std::source_location at) {
  if (status == cudaSuccess) return;
  throw CudaError(std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status), at);
}

void* open_library(const std::string& name, int major) {
  const std::string file = "lib" + name + ".so." + std::to_string(major);
  const std::string in_toolkit = std::string(TALLY_CUDA_LIBRARY_DIR) + "/" + file;
  for (const std::string& path : {file, in_toolkit}) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* why = dlerror();
  throw DeviceAbsent(name + ": " + std::string(why != nullptr ? why : "cannot open " + file));
}

void* find_function(void* library, const char* name) {
  void* function = dlsym(library, name);
  if (function == nullptr) throw DeviceAbsent(std::string("the library has no ") + name);
  return function;
}

void check_blas(cublasStatus_t status, std::source_location at) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CudaError("cuBLAS status " + std::to_string(status), at);
}

cudaDataType type_of(Dtype dtype, std::source_location at) {
  switch (dtype) {
    case Dtype::fp32:
      return CUDA_R_32F;
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    default:
      throw unsupported_format(dtype, "type of cuBLAS", at);
  }
}

cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

cublasComputeType_t compute_type(const GemmCall& call) {
  const bool pedantic = call.choices.math == GemmChoices::Math::pedantic;
  switch (call.compute) {
    case Dtype::fp32:
      if (call.tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
      return pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    case Dtype::fp16:
      return pedantic ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
    default:
      throw unsupported_format(call.compute, "accumulator of cuBLAS");
  }
}

Scalar::Scalar(const GemmCall& call, int value)
    : bits_(static_cast<std::uint32_t>(float_bits_of(call.compute, value))) {}

void* Workspace::of(std::size_t bytes) {
  if (bytes <= bytes_) return memory_;
  if (memory_ != nullptr) check_cuda(cudaFree(memory_));  // waits for what still uses it
  memory_ = nullptr;
  bytes_ = 0;
  check_cuda(cudaMalloc(&memory_, bytes));
  bytes_ = bytes;
  return memory_;
}

}  // namespace tally

#include "kernels/device/cuda/library.hpp"

#include <dlfcn.h>

#include "kernels/device/cuda/check.hpp"

namespace tally {

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

cudaDataType type_of(Dtype dtype) {
  return dtype == Dtype::fp16 ? CUDA_R_16F : dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

cublasComputeType_t compute_type(const GemmCall& call) {
  const bool pedantic = call.choices.math == GemmChoices::Math::pedantic;
  if (call.compute == Dtype::fp16) return pedantic ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
  if (call.tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
}

Scalar::Scalar(const GemmCall& call, int value)
    : in_half_(call.compute == Dtype::fp16),
      half_(value == 0 ? std::uint16_t{0} : std::uint16_t{0x3c00}),
      wide_(static_cast<float>(value)) {}

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

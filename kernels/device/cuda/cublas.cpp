// GEMM by cuBLAS, opened at first use: linking it would cost every process memory and start-up time.
#include <cublas_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/gemm_backends.hpp"

namespace tally {
namespace {

/// libcublas by its major version: found by the loader, or in the toolkit this was built with.
void* open_library() {
  const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  const std::string in_toolkit = std::string(TALLY_CUDA_LIBRARY_DIR) + "/" + name;
  for (const std::string& path : {name, in_toolkit}) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* why = dlerror();
  throw DeviceAbsent("cuBLAS: " + std::string(why != nullptr ? why : "cannot open " + name));
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw DeviceAbsent(std::string("cuBLAS has no ") + name);
}

void check(cublasStatus_t status, std::source_location at = std::source_location::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CudaError("cuBLAS status " + std::to_string(status), at);
}

/// cublasGemmEx, which the header overloads.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                              const void* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                              cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                              cublasComputeType_t, cublasGemmAlgo_t);

/// The library with one handle. Its workspace is its own, so that the choice of algorithm cannot depend on what else
/// runs.
class Cublas {
 public:
  Cublas() {
    void* library = open_library();
    find(library, "cublasCreate_v2", create_);
    find(library, "cublasSetStream_v2", set_stream_);
    find(library, "cublasSetMathMode", set_math_mode_);
    find(library, "cublasSetAtomicsMode", set_atomics_mode_);
    find(library, "cublasSetWorkspace_v2", set_workspace_);
    find(library, "cublasGemmEx", gemm_);
    constexpr std::size_t workspace_bytes = 32u << 20;
    check(create_(&handle_));
    check(set_math_mode_(
        handle_, static_cast<cublasMath_t>(CUBLAS_PEDANTIC_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    check(set_atomics_mode_(handle_, CUBLAS_ATOMICS_NOT_ALLOWED));
    check_cuda(cudaMalloc(&workspace_, workspace_bytes));
    workspace_bytes_ = workspace_bytes;
  }

  void gemm(Stream& stream, const GemmCall& call);

 private:
  decltype(cublasCreate_v2)* create_ = nullptr;
  decltype(cublasSetStream_v2)* set_stream_ = nullptr;
  decltype(cublasSetMathMode)* set_math_mode_ = nullptr;
  decltype(cublasSetAtomicsMode)* set_atomics_mode_ = nullptr;
  decltype(cublasSetWorkspace_v2)* set_workspace_ = nullptr;
  GemmEx* gemm_ = nullptr;
  std::mutex mutex_;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
};

cudaDataType type_of(Dtype dtype) {
  return dtype == Dtype::fp16 ? CUDA_R_16F : dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

/// cuBLAS thinks in columns: its Cᵀ = op(B)ᵀ op(A)ᵀ is our row-major C = op(A) op(B).
void Cublas::gemm(Stream& stream, const GemmCall& call) {
  const std::lock_guard lock(mutex_);
  const auto size = [](std::int64_t n) { return static_cast<int>(n); };
  const int m = size(call.m), n = size(call.n), k = size(call.k);
  const int a_columns = std::max(1, call.transpose_a ? m : k), b_columns = std::max(1, call.transpose_b ? k : n);
  const float one = 1.0f, beta = static_cast<float>(call.beta);
  const std::uint16_t half_one = 0x3c00, half_beta = call.beta == 0 ? 0 : half_one;
  const bool in_half = call.compute == Dtype::fp16;
  const cudaDataType operands = type_of(call.operands);
  check(set_stream_(handle_, static_cast<cudaStream_t>(stream.handle())));
  check(set_workspace_(handle_, workspace_, workspace_bytes_));  // forgotten when the stream changes
  check(gemm_(handle_, operation(call.transpose_b), operation(call.transpose_a), n, m, k,
              in_half ? static_cast<const void*>(&half_one) : &one, call.b, operands, b_columns, call.a, operands,
              a_columns, in_half ? static_cast<const void*>(&half_beta) : &beta, call.c, type_of(call.result), n,
              in_half     ? CUBLAS_COMPUTE_16F_PEDANTIC
              : call.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                          : CUBLAS_COMPUTE_32F_PEDANTIC,
              CUBLAS_GEMM_DEFAULT));
}

}  // namespace

void cublas_gemm(Stream& stream, const GemmCall& call) {
  constexpr std::int64_t most = 0x7fffffff;
  if (call.m > most || call.n > most || call.k > most) throw std::invalid_argument("gemm: a size beyond 2^31 - 1");
  if (call.k == 0) {
    const std::size_t bytes = static_cast<std::size_t>(call.m * call.n) * size_of(call.result);
    if (call.beta == 0) check_cuda(cudaMemsetAsync(call.c, 0, bytes, static_cast<cudaStream_t>(stream.handle())));
    return;
  }
  static Cublas one;
  one.gemm(stream, call);
}

}  // namespace tally

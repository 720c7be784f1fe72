// GEMM by cuBLAS, in the mathematics that the call chooses.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <stdexcept>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/cuda/library.hpp"
#include "kernels/device/gemm/gemm_backends.hpp"

namespace tally {
namespace {

/// cublasGemmEx, which the header overloads.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                              const void* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                              cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                              cublasComputeType_t, cublasGemmAlgo_t);

cublasMath_t math_mode(const GemmChoices& choices) {
  const cublasMath_t mode = choices.math == GemmChoices::Math::pedantic ? CUBLAS_PEDANTIC_MATH
                            : choices.math == GemmChoices::Math::tf32   ? CUBLAS_TF32_TENSOR_OP_MATH
                                                                        : CUBLAS_DEFAULT_MATH;
  return choices.reduced_reduction ? mode
                                   : static_cast<cublasMath_t>(mode | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
}

/// The library with one handle. Its workspace is its own, so that the choice of algorithm cannot depend on what else
/// runs.
class Cublas {
 public:
  Cublas() {
    void* library = open_library("cublas", CUBLAS_VER_MAJOR);
    find(library, "cublasCreate_v2", create_);
    find(library, "cublasSetStream_v2", set_stream_);
    find(library, "cublasSetMathMode", set_math_mode_);
    find(library, "cublasSetAtomicsMode", set_atomics_mode_);
    find(library, "cublasSetWorkspace_v2", set_workspace_);
    find(library, "cublasGemmEx", gemm_);
    check_blas(create_(&handle_));
    check_blas(set_atomics_mode_(handle_, CUBLAS_ATOMICS_NOT_ALLOWED));
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
  Workspace workspace_;
};

/// cuBLAS thinks in columns: its Cᵀ = op(B)ᵀ op(A)ᵀ is our row-major C = op(A) op(B).
void Cublas::gemm(Stream& stream, const GemmCall& call) {
  const std::lock_guard lock(mutex_);
  const auto size = [](std::int64_t n) { return static_cast<int>(n); };
  const int m = size(call.m), n = size(call.n), k = size(call.k);
  const int a_columns = std::max(1, call.transpose_a ? m : k), b_columns = std::max(1, call.transpose_b ? k : n);
  const auto bytes = static_cast<std::size_t>(call.choices.workspace);
  const Scalar one(call, 1), beta(call, call.beta);
  const cudaDataType operands = type_of(call.operands);
  check_blas(set_math_mode_(handle_, math_mode(call.choices)));
  check_blas(set_stream_(handle_, static_cast<cudaStream_t>(stream.handle())));
  check_blas(set_workspace_(handle_, workspace_.of(bytes), bytes));  // forgotten when the stream changes
  check_blas(gemm_(handle_, operation(call.transpose_b), operation(call.transpose_a), n, m, k, one.data(), call.b,
                   operands, b_columns, call.a, operands, a_columns, beta.data(), call.c, type_of(call.result), n,
                   compute_type(call), CUBLAS_GEMM_DEFAULT));
}

bool needs_lt(const GemmChoices& choices) { return choices.splits > 0 || choices.algorithm >= 0; }

}  // namespace

void cublas_gemm(Stream& stream, const GemmCall& call) {
  constexpr std::int64_t most = 0x7fffffff;
  if (call.m > most || call.n > most || call.k > most) throw std::invalid_argument("gemm: a size beyond 2^31 - 1");
  if (call.k == 0) {
    const std::size_t bytes = static_cast<std::size_t>(call.m * call.n) * size_of(call.result);
    if (call.beta == 0) check_cuda(cudaMemsetAsync(call.c, 0, bytes, static_cast<cudaStream_t>(stream.handle())));
    return;
  }
  if (needs_lt(call.choices) && cublas_lt_gemm(stream, call)) return;
  GemmCall whole = call;
  if (call.choices.splits > 0) whole.choices.reduced_reduction = false;  // not split, so nothing is reduced
  static Cublas one;
  one.gemm(stream, whole);
}

}  // namespace tally

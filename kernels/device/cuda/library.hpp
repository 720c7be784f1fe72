// The toolkit's libraries, opened at first use: linking them would cost every process memory and start-up time.
#pragma once

#include <cublas_api.h>

#include <source_location>
#include <string>

#include "kernels/device/gemm/blas.hpp"

namespace tally {

/// lib<name>.so.<major>: found by the loader, or in the toolkit this was built with. Throws DeviceAbsent. Never closed.
void* open_library(const std::string& name, int major);

/// Throws DeviceAbsent where the library has no such function.
void* find_function(void* library, const char* name);

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find_function(library, name));
}

/// Throws CudaError with the status of a call to cuBLAS or cublasLt.
void check_blas(cublasStatus_t status, std::source_location at = std::source_location::current());

/// Throws std::invalid_argument for a format that the library does not know.
cudaDataType type_of(Dtype dtype, std::source_location at = std::source_location::current());
cublasOperation_t operation(bool transpose);
/// The library's type for the call's accumulator, operands and mathematics. Throws std::invalid_argument for an
/// accumulator that the library does not know.
cublasComputeType_t compute_type(const GemmCall& call);

/// A number in the format of the call's alpha and beta, which is the accumulator's.
class Scalar {
 public:
  Scalar(const GemmCall& call, int value);
  const void* data() const { return &bits_; }

 private:
  std::uint32_t bits_;  // little endian: a narrower format's come first
};

/// Device memory as large as the last call asked for. Not shared between streams that run at once.
class Workspace {
 public:
  void* of(std::size_t bytes);

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One product by cublasLt: `splits` parts of k and `algorithm` as the call chooses. False, and nothing done, where
/// none of its list of heuristics can be split so; throws CudaError where the algorithm that the call names cannot.
bool cublas_lt_gemm(Stream& stream, const GemmCall& call);

}  // namespace tally

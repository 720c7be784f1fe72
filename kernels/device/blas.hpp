// The BLAS seam: C = op(A) op(B) + beta C, row-major, accumulated in fp32 (or fp16) and rounded once to the result's
// format.
//
// On CUDA this is cuBLAS, opened at first use: pedantic arithmetic, TF32 only where the call allows it, no
// reduced-precision reduction, no atomics. It picks its own order of additions. On the host the order is a parameter.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

#include "kernels/device/device.hpp"

namespace tally {

/// A: [m, k], or [k, m] when transposed. B: [k, n], or [n, k] when transposed. C: [m, n]. All dense, row-major.
/// A and B are of one format; C is of that format or fp32. Any size may be 0; k = 0 gives zeros (beta = 0) or C.
/// With beta = 1 the old C is added once, in fp32, after the sum over k.
struct GemmCall {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  Dtype operands = Dtype::fp32;
  Dtype result = Dtype::fp32;
  int beta = 0;                 // 0: C is not read
  Dtype compute = Dtype::fp32;  // the accumulator; fp16 takes fp16 operands and result
  bool tf32 = false;            // fp32 operands may be rounded to TF32 (the host: to nearest even)
};

/// In which order the host adds the k products of one element; every addition is in the accumulator's format, rounded
/// to nearest even.
struct GemmOrder {
  enum class Kind {
    sequential_fma,      // acc = fma(a, b, acc), from k = 0 up
    sequential_mul_add,  // acc = acc + fl(a b)
    pairwise,            // products rounded, then halves added recursively, the first half the larger
    chunked,             // runs of `parameter` products by fma; a run's sum is added to the total
    split_k              // `parameter` parts of k, each by fma; their sums added from the first part
  };
  Kind kind = Kind::sequential_fma;
  std::int64_t parameter = 0;

  /// Draws an order; seed 0 is sequential_fma.
  static GemmOrder draw(std::uint64_t seed);
};
std::string to_string(const GemmOrder& order);

/// Throws std::invalid_argument for sizes, formats or a beta that the call's documentation excludes; on CUDA also
/// CudaError, and DeviceAbsent where cuBLAS cannot be found. `order` says nothing to CUDA.
void gemm(Stream& stream, const GemmCall& call, const GemmOrder& order = {},
          std::source_location at = std::source_location::current());

}  // namespace tally

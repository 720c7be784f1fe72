// The BLAS seam: C = op(A) op(B) + beta C, row-major, accumulated in fp32 (or fp16) and rounded once to the result's
// format.
//
// On CUDA this is cuBLAS, opened at first use: pedantic arithmetic unless the call chooses otherwise, TF32 only where
// the call allows it, no atomics; cublasLt where the call names a split of k or an algorithm. It picks its own order of
// additions. On the host the order is a parameter.
// Defined in gemm.cpp.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

#include "kernels/device/device.hpp"

namespace tally {

/// What a caller asks of the library beside the product itself. The host follows `splits` and `reduced_reduction`, and
/// refuses an algorithm; its mathematics is pedantic. CUDA splits k only where the library has a kernel that does.
struct GemmChoices {
  enum class Math {
    pedantic,  // standard arithmetic alone
    standard,  // the library's default: tensor cores where the operands' format has them, never TF32
    tf32       // fp32 operands rounded to TF32; for a call with tf32
  };
  Math math = Math::pedantic;
  bool reduced_reduction = false;         // parts of k may meet in the result's format instead of the accumulator's
  std::int64_t splits = 0;                // parts of k, summed apart; 0: as the library likes, the host: one
  std::int64_t workspace = 32ll << 20;    // bytes that the library may use
  std::int64_t algorithm = no_algorithm;  // index in cublasLt's list of heuristics
  static constexpr std::int64_t no_algorithm = -1;
};

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
  bool tf32 = false;            // fp32 operands may be rounded to TF32 (the host: to nearest even,
                                // tensor cores' orders: the low bits dropped)
  GemmChoices choices = {};
};

/// In which order the host adds the k products of one element; every addition is in the accumulator's format, rounded
/// to nearest even. The orders of tensor cores are bit models of hardware (kernels/device/gemm/gemm_block.hpp): blocks
/// of products, truncated to a common exponent and added exactly, from k = 0 up.
struct GemmOrder {
  enum class Kind {
    sequential_fma,      // acc = fma(a, b, acc), from k = 0 up
    sequential_mul_add,  // acc = acc + fl(a b)
    pairwise,            // products rounded, then halves added recursively, the first half the larger
    chunked,             // runs of `parameter` products by fma; a run's sum is added to the total
    split_k,             // `parameter` parts of k, each by fma; their sums added from the first part
    tensor_core_v100,    // blocks of 4 products (fp16, bf16)
    tensor_core_a100,    // of 8, of 4 in TF32
    tensor_core_h100     // of 16, of 8 in TF32
  };
  Kind kind = Kind::sequential_fma;
  std::int64_t parameter = 0;

  /// Draws an order of scalar additions; seed 0 is sequential_fma.
  static GemmOrder draw(std::uint64_t seed);
};
std::string to_string(const GemmOrder& order);

/// Whether a product of these formats runs on the tensor cores of the order's generation; false for scalar orders.
bool runs_on_tensor_cores(GemmOrder::Kind kind, Dtype operands, bool tf32);

/// Throws std::invalid_argument for sizes, formats, choices, a beta or an order that this page excludes, choices that
/// the executor cannot follow among them; on CUDA also CudaError, and DeviceAbsent where the library cannot be found.
/// `order` says nothing to CUDA.
void gemm(Stream& stream, const GemmCall& call, const GemmOrder& order = {},
          std::source_location at = std::source_location::current());

}  // namespace tally

// A block of a GEMM's results, summed over k in a given order.
// Defined in gemm_block.cpp, tensor_core.cpp.
#pragma once

#include <cstddef>

#include "kernels/device/gemm/blas.hpp"

namespace tally {

struct GemmBlock {
  static constexpr std::size_t rows = 4, columns = 16;
  float value[rows][columns] = {};
};

/// In a scalar order: sums[r][j] = sum over p < k of a[p, r] b[p, j]. a: [k, rows], b: [k, columns], fp32. All columns
/// at once, so that the compiler can use vector instructions; the order of one element's additions is the order asked
/// for. Throws std::logic_error for an order of tensor cores.
void sum_products(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums);

/// The same with every product and sum rounded to fp16; operands are fp16 numbers.
void sum_products_in_half(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums);

// Tensor cores as the host models them, bit for bit: the block fused multiply-add of three generations, after MMA-Sim
// (arXiv 2511.10909) and Khattak & Mikaitis (arXiv 2512.07004), whose models were fitted to the hardware.
//
// One block takes `terms` exact products and the accumulator. Each is truncated toward zero to `fraction_bits` below
// 2^E, E the largest exponent among them; the truncated terms are added exactly; the sum is rounded once, to fp32
// toward zero, to fp16 to nearest even. The exponent of a product is the sum of its factors' exponents, its significand
// lying in [1, 4); a subnormal factor keeps its format's smallest exponent. E is at least -133, in fp16 at least -21.
// Blocks run from k = 0 up, each from the sum that the one before left; the last is filled with zeros.

struct BlockFma {
  std::size_t terms;
  int fraction_bits;
  int least_exponent;  // of the operands' smallest normal number
  bool to_half;        // the accumulator is fp16
};

/// The block of the generation that `order` names, for a call it runs on tensor cores. Throws std::logic_error else.
BlockFma block_fma(const GemmCall& call, GemmOrder::Kind order);

/// As sum_products, of operands that have 11 significant bits at most (fp16, bf16, TF32).
void sum_products_by_blocks(const float* a, const float* b, std::size_t k, const BlockFma& block, GemmBlock& sums);

}  // namespace tally

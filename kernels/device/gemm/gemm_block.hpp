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
/// for. Throws std::logic_error for an order of tensor cores (kernels/device/gemm/tensor_core.hpp).
void sum_products(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums);

/// The same with every product and sum rounded to fp16; operands are fp16 numbers.
void sum_products_in_half(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums);

}  // namespace tally

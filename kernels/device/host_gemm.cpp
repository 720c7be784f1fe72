// The host's GEMM: operands are widened to fp32 in panels, a block of results is summed in the order asked for, and
// every result is rounded once.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device/gemm_backends.hpp"
#include "kernels/device/gemm_block.hpp"
#include "kernels/device/half.hpp"

namespace tally {
namespace {

std::size_t length(std::int64_t size) { return static_cast<std::size_t>(size); }

float read(const void* from, Dtype dtype, std::size_t i) {
  switch (dtype) {
    case Dtype::fp16:
      return to_float(static_cast<const half*>(from)[i]);
    case Dtype::bf16:
      return to_float(static_cast<const bfloat16*>(from)[i]);
    default:
      return static_cast<const float*>(from)[i];
  }
}

void write(void* to, Dtype dtype, std::size_t i, float value) {
  switch (dtype) {
    case Dtype::fp16:
      static_cast<half*>(to)[i] = from_float<half>(value);
      break;
    case Dtype::bf16:
      static_cast<bfloat16*>(to)[i] = from_float<bfloat16>(value);
      break;
    default:
      static_cast<float*>(to)[i] = value;
      break;
  }
}

/// To the ten fraction bits of TF32, to nearest even; a NaN stays one.
float in_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// An operand seen as [k, others] whatever its storage.
struct Operand {
  const void* data;
  Dtype dtype;
  std::size_t k_stride, other_stride, k, others;
  bool tf32;

  /// Columns first ... first + width - 1 as fp32 [k, width], zeros beyond the last.
  void pack(std::size_t first, std::size_t width, float* panel) const {
    const std::size_t there = std::min(width, others - first);
    for (std::size_t p = 0; p < k; ++p) {
      for (std::size_t j = 0; j < there; ++j) {
        const float value = read(data, dtype, p * k_stride + (first + j) * other_stride);
        panel[p * width + j] = tf32 ? in_tf32(value) : value;
      }
      std::fill(panel + p * width + there, panel + (p + 1) * width, 0.0f);
    }
  }
};

void store(const GemmCall& call, std::size_t row, std::size_t column, const GemmBlock& sums) {
  const std::size_t rows = std::min(GemmBlock::rows, length(call.m) - row);
  const std::size_t columns = std::min(GemmBlock::columns, length(call.n) - column);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t at = (row + r) * length(call.n) + column + j;
      const float sum = sums.value[r][j];
      write(call.c, call.result, at, call.beta == 0 ? sum : sum + read(call.c, call.result, at));
    }
  }
}

}  // namespace

void host_gemm(const GemmCall& call, const GemmOrder& order) {
  const std::size_t m = length(call.m), n = length(call.n), k = length(call.k);
  const Operand a{call.a, call.operands, call.transpose_a ? m : 1, call.transpose_a ? 1 : k, k, m, call.tf32};
  const Operand b{call.b, call.operands, call.transpose_b ? 1 : n, call.transpose_b ? k : 1, k, n, call.tf32};
  const std::size_t row_blocks = (m + GemmBlock::rows - 1) / GemmBlock::rows;
  const std::size_t a_panel = k * GemmBlock::rows;
  std::vector<float> a_panels(row_blocks * a_panel), b_panel(k * GemmBlock::columns);
  for (std::size_t i = 0; i < row_blocks; ++i) a.pack(i * GemmBlock::rows, GemmBlock::rows, &a_panels[i * a_panel]);
  for (std::size_t column = 0; column < n; column += GemmBlock::columns) {
    b.pack(column, GemmBlock::columns, b_panel.data());
    for (std::size_t i = 0; i < row_blocks; ++i) {
      GemmBlock sums;
      const auto sum = call.compute == Dtype::fp16 ? sum_products_in_half : sum_products;
      sum(a_panels.data() + i * a_panel, b_panel.data(), k, order, sums);
      store(call, i * GemmBlock::rows, column, sums);
    }
  }
}

}  // namespace tally

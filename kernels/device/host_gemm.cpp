// The host's GEMM: operands are widened to fp32 in panels, a block of results is summed in the order asked for, its
// parts of k meet where the call says, and every result is rounded once.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device/gemm_backends.hpp"
#include "kernels/device/gemm_block.hpp"
#include "kernels/device/half.hpp"
#include "kernels/device/tensor_core.hpp"

namespace tally {
namespace {

std::size_t length(std::int64_t size) { return static_cast<std::size_t>(size); }

float read(const void* from, Dtype dtype, std::size_t i) {
  return with_type_of(dtype, [=]<class S>(S) { return to_float(static_cast<const S*>(from)[i]); });
}

void write(void* to, Dtype dtype, std::size_t i, float value) {
  with_type_of(dtype, [=]<class S>(S) { static_cast<S*>(to)[i] = from_float<S>(value); });
}

/// To the ten fraction bits of TF32, to nearest even; a NaN stays one.
float in_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// As tensor cores read an operand: the bits below TF32 are not there.
float without_low_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7fffffffu) > 0x7f800000u ? value : std::bit_cast<float>(bits & ~0x1fffu);
}

/// An operand seen as [k, others] whatever its storage.
struct Operand {
  const void* data;
  Dtype dtype;
  std::size_t k_stride, other_stride, k, others;
  float (*read_as)(float);  // what becomes of an element as it is read; nullptr: it stays

  /// Columns first ... first + width - 1 as fp32 [k, width], zeros beyond the last.
  void pack(std::size_t first, std::size_t width, float* panel) const {
    const std::size_t there = std::min(width, others - first);
    for (std::size_t p = 0; p < k; ++p) {
      for (std::size_t j = 0; j < there; ++j) {
        const float value = read(data, dtype, p * k_stride + (first + j) * other_stride);
        panel[p * width + j] = read_as != nullptr ? read_as(value) : value;
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

/// sum = fl(sum + part); a narrower format takes each part in rounded to itself.
void add_part(Dtype format, const GemmBlock& part, bool first, GemmBlock& sums) {
  for (std::size_t r = 0; r < GemmBlock::rows; ++r) {
    for (std::size_t j = 0; j < GemmBlock::columns; ++j) {
      const float rounded = stored_in(format, part.value[r][j]);
      sums.value[r][j] = first ? rounded : stored_in(format, sums.value[r][j] + rounded);
    }
  }
}

/// One product after another in the accumulator's format.
auto scalar_sum(Dtype accumulator) {
  switch (accumulator) {
    case Dtype::fp32:
      return &sum_products;
    case Dtype::fp16:
      return &sum_products_in_half;
    default:
      throw unsupported_format(accumulator, "sum of products");
  }
}

/// A block of results, of panels as long as k.
class BlockSum {
 public:
  BlockSum(const GemmCall& call, const GemmOrder& order) : call_(call), order_(order) {
    on_tensor_cores_ = runs_on_tensor_cores(order.kind, call.operands, call.tf32);
    if (on_tensor_cores_) block_ = block_fma(call, order.kind);
    sum_scalars_ = scalar_sum(call.compute);
  }

  void operator()(const float* a, const float* b, std::size_t k, GemmBlock& sums) const {
    const std::size_t parts = std::min(length(call_.choices.splits), k);
    if (parts <= 1) return of_part(a, b, k, sums);
    const Dtype meets_in = call_.choices.reduced_reduction ? call_.result : call_.compute;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = i * k / parts, end = (i + 1) * k / parts;
      GemmBlock part;
      of_part(a + begin * GemmBlock::rows, b + begin * GemmBlock::columns, end - begin, part);
      add_part(meets_in, part, i == 0, sums);
    }
  }

 private:
  void of_part(const float* a, const float* b, std::size_t k, GemmBlock& sums) const {
    if (on_tensor_cores_) return sum_products_by_blocks(a, b, k, block_, sums);
    sum_scalars_(a, b, k, order_, sums);
  }

  const GemmCall& call_;
  const GemmOrder& order_;
  bool on_tensor_cores_ = false;
  BlockFma block_{};
  decltype(&sum_products) sum_scalars_;
};

}  // namespace

void host_gemm(const GemmCall& call, const GemmOrder& order) {
  const std::size_t m = length(call.m), n = length(call.n), k = length(call.k);
  const bool on_tensor_cores = runs_on_tensor_cores(order.kind, call.operands, call.tf32);
  const auto read_as = !call.tf32 ? nullptr : on_tensor_cores ? without_low_bits : in_tf32;
  const Operand a{call.a, call.operands, call.transpose_a ? m : 1, call.transpose_a ? 1 : k, k, m, read_as};
  const Operand b{call.b, call.operands, call.transpose_b ? 1 : n, call.transpose_b ? k : 1, k, n, read_as};
  const BlockSum sum(call, order);
  const std::size_t row_blocks = (m + GemmBlock::rows - 1) / GemmBlock::rows;
  const std::size_t a_panel = k * GemmBlock::rows;
  std::vector<float> a_panels(row_blocks * a_panel), b_panel(k * GemmBlock::columns);
  for (std::size_t i = 0; i < row_blocks; ++i)
    a.pack(i * GemmBlock::rows, GemmBlock::rows, a_panels.data() + i * a_panel);
  for (std::size_t column = 0; column < n; column += GemmBlock::columns) {
    b.pack(column, GemmBlock::columns, b_panel.data());
    for (std::size_t i = 0; i < row_blocks; ++i) {
      GemmBlock sums;
      sum(a_panels.data() + i * a_panel, b_panel.data(), k, sums);
      store(call, i * GemmBlock::rows, column, sums);
    }
  }
}

}  // namespace tally

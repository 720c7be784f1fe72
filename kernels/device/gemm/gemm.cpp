// Products of matrices: the choice of who computes them, and the host's own.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/gemm/gemm_backends.hpp"
#include "kernels/device/gemm/gemm_block.hpp"
#include "kernels/device/half.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

GemmOrder GemmOrder::draw(std::uint64_t seed) {
  if (seed == 0) return {};
  constexpr std::array kinds{Kind::sequential_fma, Kind::sequential_mul_add, Kind::pairwise, Kind::chunked,
                             Kind::split_k};
  executor::Schedule random(seed);
  const Kind kind = kinds[random.below(kinds.size())];
  if (kind == Kind::chunked) return {kind, static_cast<std::int64_t>(2 + random.below(63))};
  if (kind == Kind::split_k) return {kind, static_cast<std::int64_t>(2 + random.below(7))};
  return {kind, 0};
}

std::string to_string(const GemmOrder& order) {
  const std::string parameter = "(" + std::to_string(order.parameter) + ")";
  switch (order.kind) {
    case GemmOrder::Kind::sequential_fma:
      return "sequential_fma";
    case GemmOrder::Kind::sequential_mul_add:
      return "sequential_mul_add";
    case GemmOrder::Kind::pairwise:
      return "pairwise";
    case GemmOrder::Kind::chunked:
      return "chunked" + parameter;
    case GemmOrder::Kind::split_k:
      return "split_k" + parameter;
    case GemmOrder::Kind::tensor_core_v100:
      return "tensor_core_v100";
    case GemmOrder::Kind::tensor_core_a100:
      return "tensor_core_a100";
    case GemmOrder::Kind::tensor_core_h100:
      return "tensor_core_h100";
  }
  return "unknown order";
}

namespace {

/// What is wrong with a call's choices; empty: nothing.
std::string wrong_choice(const GemmCall& call, bool on_host) {
  const GemmChoices& choices = call.choices;
  if (choices.splits < 0) return std::to_string(choices.splits) + " parts of k";
  if (choices.workspace < 0) return "a workspace of " + std::to_string(choices.workspace) + " bytes";
  if (choices.algorithm < GemmChoices::no_algorithm) return "algorithm " + std::to_string(choices.algorithm);
  if (choices.math == GemmChoices::Math::tf32 && !call.tf32) return "TF32 mathematics of a call without TF32";
  if (on_host && choices.algorithm >= 0) return "algorithm " + std::to_string(choices.algorithm) + " on the host";
  return "";
}

void check(const GemmCall& call, const GemmOrder& order, bool on_host, std::source_location at) {
  std::string wrong = wrong_choice(call, on_host);
  if (call.m < 0 || call.n < 0 || call.k < 0) wrong = "a negative size";
  if (!format_row(call.operands).uses.storage) wrong = "operands in " + std::string(name_of(call.operands));
  if (call.result != call.operands && call.result != Dtype::fp32)
    wrong = "a result in " + std::string(name_of(call.result));
  const bool all_alike = call.operands == call.compute && call.result == call.compute;
  if (!format_row(call.compute).uses.compute || (call.compute != Dtype::fp32 && !all_alike))
    wrong = "an accumulator in " + std::string(name_of(call.compute));
  if (call.tf32 && (call.operands != Dtype::fp32 || call.compute != Dtype::fp32)) wrong = "TF32 of other than fp32";
  if (call.beta != 0 && call.beta != 1) wrong = "beta " + std::to_string(call.beta);
  const bool grouped = order.kind == GemmOrder::Kind::chunked || order.kind == GemmOrder::Kind::split_k;
  if (grouped && order.parameter < 1) wrong = "order " + to_string(order);
  const bool scalar = order.kind <= GemmOrder::Kind::split_k;
  if (on_host && !scalar && !runs_on_tensor_cores(order.kind, call.operands, call.tf32))
    wrong = "order " + to_string(order) + " of operands it has no instruction for";
  if (wrong.empty()) return;
  throw std::invalid_argument(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": gemm " +
                              std::to_string(call.m) + " x " + std::to_string(call.n) + " x " + std::to_string(call.k) +
                              " with " + wrong + "; see kernels/device/gemm/blas.hpp");
}

}  // namespace

void gemm(Stream& stream, const GemmCall& call, const GemmOrder& order, std::source_location at) {
  const bool on_host = stream.device().kind() != ExecutorKind::cuda;
  check(call, order, on_host, at);
  if (call.m == 0 || call.n == 0) return;
#ifdef TALLY_HAS_CHECKED
  if (stream.device().kind() == ExecutorKind::checked) check_operands(stream, call, at);
#endif
  if (on_host) return executor::submit(stream.handle(), [call, order] { host_gemm(call, order); });
#ifdef TALLY_HAS_CUDA
  cublas_gemm(stream, call);
#endif
}

// The host's GEMM: operands are widened to fp32 in panels, a block of results is summed in the order asked for, its
// parts of k meet where the call says, and every result is rounded once.
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

// The products that the probes ask for, and what a product does to its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/gemm/blas.hpp"

namespace tally {

// The products that the probes ask for: many small questions, packed into matrices of one shape.

/// Formats of a product; `result` is the operands' format or fp32.
struct ProductKind {
  Dtype operands = Dtype::fp32, result = Dtype::fp32, compute = Dtype::fp32;
  bool tf32 = false;
};

struct ProbeShape {
  std::int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;
};

/// An element of a column of B; what is not listed is 0.
struct Factor {
  std::size_t position;  // along k
  float value;
};
using Column = std::vector<Factor>;

class ProbeProducts {
 public:
  ProbeProducts(Device& on, const GemmOrder& order, const GemmChoices& choices);

  /// a times the sum of each column, as all m rows hold it; NaN where rows differ.
  std::vector<float> ask(const ProductKind& kind, const ProbeShape& shape, float a, const std::vector<Column>& columns);

  /// Row-major A [m, k] times row-major B [k, n], `times` times over: [times, m, n].
  std::vector<float> multiply(const ProductKind& kind, const ProbeShape& shape, const std::vector<float>& a,
                              const std::vector<float>& b, std::size_t times);

 private:
  std::vector<float> run(const ProductKind& kind, const ProbeShape& shape, const std::vector<std::byte>& a,
                         const std::vector<std::byte>& b, std::size_t calls);

  Device& device_;
  Stream stream_;
  GemmOrder order_;
  GemmChoices choices_;
};

// What a product does to its operands, its accumulator and its bits from call to call.

/// What becomes of fp32 operands: "nearest" | "truncate" (to TF32) | "none", of both operands, or "unknown": 1 + 2^-11
/// + 2^-20 lies just above half way between two TF32 numbers; nearest goes up, truncation down, fp32 keeps it.
std::string operand_rounding(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

/// What holds of both answers: where some operands stay and others are rounded to nearest, all are within a rounding to
/// nearest; truncated and other operands share nothing.
std::string loosest_rounding(const std::string& one, const std::string& other);

/// GemmTraits::half_group: 2048 and k - 1 times 2^-j with a fp16 accumulator, whose next number is 2050. It stays 2048
/// while the addends that meet before a rounding make no more than 1. k is GemmTraits::half_probe_length.
std::size_t half_group(ProbeProducts& products);

/// The same bits 20 times, of drawn numbers.
bool repeats(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

/// 2^7 A B has the bits of A B, 7 exponents up.
bool scales(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

}  // namespace tally

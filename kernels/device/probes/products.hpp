// The products that the probes ask for: many small questions, packed into matrices of one shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device/blas.hpp"

namespace tally {

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

}  // namespace tally

// Sums of products in an fp16 accumulator, element by element: fma with one rounding, in the order asked for.
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "kernels/device/gemm_block.hpp"
#include "kernels/device/host/half_bits.hpp"

namespace tally {
namespace {

constexpr std::size_t rows = GemmBlock::rows, columns = GemmBlock::columns;

float rounded(float value) { return widened<Dtype::fp16>(narrowed_bits<Dtype::fp16>(value)); }

/// To fp32, the last bit set where something was cut off: what is rounded to fewer bits after that is rounded once.
float to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (beyond ? 1u : 0u)) | 1u);
}

/// fl16(a b + sum) of fp16 numbers. In binary64 the product is exact; the sum is, unless the product is so small beside
/// `sum` that it moves the result by less than half a unit in either format.
float fused(float a, float b, float sum) {
  return rounded(to_odd(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(sum)));
}

/// The products of one element of the block.
struct Products {
  const float *a, *b;
  float left(std::size_t p) const { return a[p * rows]; }
  float right(std::size_t p) const { return b[p * columns]; }
};

float by_fma(const Products& of, std::size_t begin, std::size_t end) {
  float sum = 0;
  for (std::size_t p = begin; p < end; ++p) sum = fused(of.left(p), of.right(p), sum);
  return sum;
}

float by_products(const Products& of, std::size_t k) {
  float sum = 0;
  for (std::size_t p = 0; p < k; ++p) sum = rounded(sum + fused(of.left(p), of.right(p), 0));
  return sum;
}

float pairwise(const Products& of, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return fused(of.left(begin), of.right(begin), 0);
  const std::size_t middle = begin + (end - begin + 1) / 2;
  return rounded(pairwise(of, begin, middle) + pairwise(of, middle, end));
}

template <class End>
float by_parts(const Products& of, std::size_t k, End end) {
  float sum = 0;
  for (std::size_t part = 0, begin = 0; begin < k; ++part) {
    const std::size_t stop = end(part);
    const float partial = by_fma(of, begin, stop);
    sum = begin == 0 ? partial : rounded(sum + partial);
    begin = stop;
  }
  return sum;
}

float summed(const Products& of, std::size_t k, const GemmOrder& order) {
  const auto parameter = static_cast<std::size_t>(order.parameter);
  switch (order.kind) {
    case GemmOrder::Kind::sequential_fma:
      return by_fma(of, 0, k);
    case GemmOrder::Kind::sequential_mul_add:
      return by_products(of, k);
    case GemmOrder::Kind::pairwise:
      return pairwise(of, 0, k);
    case GemmOrder::Kind::chunked:
      return by_parts(of, k, [&](std::size_t part) { return part + 1 > k / parameter ? k : (part + 1) * parameter; });
    case GemmOrder::Kind::split_k: {
      const std::size_t parts = parameter < k ? parameter : k;
      return by_parts(of, k, [&](std::size_t part) { return (part + 1) * k / parts; });
    }
    default:
      throw std::logic_error("the order " + to_string(order) + " adds no scalars");
  }
}

}  // namespace

void sum_products_in_half(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums) {
  sums = {};
  if (k == 0) return;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < columns; ++j) sums.value[r][j] = summed({a + r, b + j}, k, order);
  }
}

}  // namespace tally

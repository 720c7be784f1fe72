// Sums of products as devices add them: in an accumulator of 16 bits, and by tensor cores.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernels/device/gemm/gemm_block.hpp"
#include "kernels/device/host/half_types.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// Sums of products in an fp16 accumulator, element by element: fma with one rounding, in the order asked for.
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

namespace {

constexpr std::size_t block_rows = GemmBlock::rows, block_columns = GemmBlock::columns;

/// digits 2^(exponent - fraction), exactly; `finite` false for infinities and NaN, whose digits say nothing.
struct Number {
  std::int64_t digits = 0;
  int exponent = 0;
  bool finite = true;
};

constexpr int operand_fraction = 10, sum_fraction = 23;

/// With `fraction` bits below the exponent, which is `least` at the least. `x` must fit.
Number number(float x, int fraction, int least) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int biased = static_cast<int>(bits >> 23 & 0xffu);
  if (biased == 0xff) return {0, 0, false};
  std::int64_t digits = bits & 0x7fffffu;
  if (biased != 0) digits |= 0x800000;
  int exponent = std::max(biased, 1) - 127;
  if (exponent < least) {
    digits >>= std::min(least - exponent, 63);
    exponent = least;
  }
  digits >>= sum_fraction - fraction;
  return {bits >> 31 != 0 ? -digits : digits, exponent, true};
}

/// digits 2^shift, toward zero.
std::int64_t shifted(std::int64_t digits, int shift) {
  if (shift >= 0) return digits * (std::int64_t{1} << shift);
  const int right = std::min(-shift, 63);
  return digits < 0 ? -(-digits >> right) : digits >> right;
}

double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

/// sum 2^unit in a format of `bits` significant bits, none below 2^least; infinite from 2^limit on.
float rounded_sum(std::int64_t sum, int unit, int bits, int least, int limit, bool to_nearest) {
  auto digits = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int dropped = std::min(std::max({64 - std::countl_zero(digits) - bits, least - unit, 0}), 63);
  const std::uint64_t kept = digits >> dropped, rest = digits - (kept << dropped);
  const std::uint64_t half = dropped == 0 ? 0 : std::uint64_t{1} << (dropped - 1);
  digits = kept + (to_nearest && dropped > 0 && (rest > half || (rest == half && kept % 2 == 1)) ? 1 : 0);
  const double size = static_cast<double>(digits) * power_of_two(unit + dropped);
  const double held = size < power_of_two(limit) ? size : std::numeric_limits<double>::infinity();
  return static_cast<float>(sum < 0 ? -held : held);
}

/// What IEEE arithmetic makes of a block that holds an infinity or a NaN.
float not_finite(const float* a, const float* b, std::size_t count, float sum) {
  double all = static_cast<double>(sum);
  for (std::size_t p = 0; p < count; ++p) {
    all += static_cast<double>(a[p * block_rows]) * static_cast<double>(b[p * block_columns]);
  }
  return static_cast<float>(all);
}

/// One element's block: `count` products from a[0], b[0] on, and the sum so far.
float fused_block(const BlockFma& block, const Number* a, const Number* b, std::size_t count, const Number& sum) {
  int largest = block.to_half ? -21 : -133;
  if (sum.digits != 0) largest = std::max(largest, sum.exponent);
  for (std::size_t p = 0; p < count; ++p) {
    const Number &left = a[p * block_rows], &right = b[p * block_columns];
    if (left.digits != 0 && right.digits != 0) largest = std::max(largest, left.exponent + right.exponent);
  }
  const int unit = largest - block.fraction_bits;
  std::int64_t total = shifted(sum.digits, sum.exponent - sum_fraction - unit);
  for (std::size_t p = 0; p < count; ++p) {
    const Number &left = a[p * block_rows], &right = b[p * block_columns];
    const std::int64_t product = left.digits * right.digits;
    if (product == 0) continue;
    total += shifted(product, left.exponent + right.exponent - 2 * operand_fraction - unit);
  }
  return block.to_half ? rounded_sum(total, unit, 11, -24, 16, true) : rounded_sum(total, unit, 24, -149, 128, false);
}

std::vector<Number> numbers(const float* from, std::size_t count, int least_exponent) {
  std::vector<Number> all(count);
  std::transform(from, from + count, all.begin(), [&](float x) { return number(x, operand_fraction, least_exponent); });
  return all;
}

struct Generation {
  std::size_t terms, terms_of_tf32;  // 0: no such instruction
  int fraction_bits;
};

/// The numbers of a generation's largest instruction shapes.
Generation generation(GemmOrder::Kind order) {
  switch (order) {
    case GemmOrder::Kind::tensor_core_v100:
      return {4, 0, 23};
    case GemmOrder::Kind::tensor_core_a100:
      return {8, 4, 24};
    case GemmOrder::Kind::tensor_core_h100:
      return {16, 8, 25};
    default:
      return {0, 0, 0};
  }
}

}  // namespace

bool runs_on_tensor_cores(GemmOrder::Kind kind, Dtype operands, bool tf32) {
  return (operands == Dtype::fp32 ? tf32 ? generation(kind).terms_of_tf32 : 0 : generation(kind).terms) != 0;
}

BlockFma block_fma(const GemmCall& call, GemmOrder::Kind order) {
  if (!runs_on_tensor_cores(order, call.operands, call.tf32)) {
    throw std::logic_error("order " + to_string(GemmOrder{order, 0}) + " has no block for these operands");
  }
  const Generation row = generation(order);
  return {.terms = call.operands == Dtype::fp32 ? row.terms_of_tf32 : row.terms,
          .fraction_bits = row.fraction_bits,
          .least_exponent = format_row(call.operands).emin,
          .to_half = call.compute == Dtype::fp16};
}

void sum_products_by_blocks(const float* a, const float* b, std::size_t k, const BlockFma& block, GemmBlock& sums) {
  sums = {};
  const auto left = numbers(a, k * block_rows, block.least_exponent),
             right = numbers(b, k * block_columns, block.least_exponent);
  const auto finite = [](const Number& each) { return each.finite; };
  const bool all_finite =
      std::all_of(left.begin(), left.end(), finite) && std::all_of(right.begin(), right.end(), finite);
  const int least_sum = format_row(block.to_half ? Dtype::fp16 : Dtype::fp32).emin;
  for (std::size_t first = 0; first < k; first += block.terms) {
    const std::size_t count = std::min(block.terms, k - first);
    for (std::size_t r = 0; r < block_rows; ++r) {
      for (std::size_t j = 0; j < block_columns; ++j) {
        float& sum = sums.value[r][j];
        const Number before = number(sum, sum_fraction, least_sum);
        const std::size_t at = first * block_rows + r, of = first * block_columns + j;
        bool whole = before.finite;
        for (std::size_t p = 0; p < count && !all_finite; ++p) {
          whole = whole && left[at + p * block_rows].finite && right[of + p * block_columns].finite;
        }
        sum = whole ? fused_block(block, &left[at], &right[of], count, before) : not_finite(a + at, b + of, count, sum);
      }
    }
  }
}

}  // namespace tally

#include "oracle/real/float_product.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/real/wide_registers.hpp"

namespace tally::oracle {
namespace {

constexpr Eigen::Index columns_at_once = 8;  // columns of the result at once
constexpr Eigen::Index together = 4;         // its rows at once: as many sums as hide the time that one addition takes
using ColumnLanes __attribute__((vector_size(columns_at_once * sizeof(double)), aligned(sizeof(double)), may_alias)) =
    double;
using Floats __attribute__((vector_size(columns_at_once * sizeof(float)), aligned(sizeof(float)), may_alias)) = float;
using Bits __attribute__((vector_size(columns_at_once * sizeof(double)))) = long long;

/// value, rest and magnitude of four rows by eight columns.
struct Block {
  double of[3][together][columns_at_once];
};

/// a [terms][4] by b [terms][8].
TALLY_WIDE_REGISTERS void multiply(const double* a, const float* b, Eigen::Index terms, Block& out) {
  constexpr long long without_sign = 0x7FFF'FFFF'FFFF'FFFF;
  ColumnLanes value[together] = {}, rest[together] = {}, magnitude[together] = {};
  for (Eigen::Index k = 0; k < terms; ++k, a += together, b += columns_at_once) {
    const ColumnLanes column = __builtin_convertvector(*reinterpret_cast<const Floats*>(b), ColumnLanes);
#pragma GCC unroll 4
    for (int r = 0; r < together; ++r) {
      const ColumnLanes p = a[r] * column, sum = value[r] + p, part = sum - value[r];
      rest[r] += (value[r] - (sum - part)) + (p - part);
      value[r] = sum;
      magnitude[r] += reinterpret_cast<ColumnLanes>(reinterpret_cast<Bits>(p) & without_sign);
    }
  }
  for (int r = 0; r < together; ++r) {
    *reinterpret_cast<ColumnLanes*>(out.of[0][r]) = value[r];
    *reinterpret_cast<ColumnLanes*>(out.of[1][r]) = rest[r];
    *reinterpret_cast<ColumnLanes*>(out.of[2][r]) = magnitude[r];
  }
}

Eigen::Index rounded_up(Eigen::Index count, Eigen::Index to) { return (count + to - 1) / to * to; }

/// An operand in strips of so many rows of op(x) (of columns for the right one), term by term, zeros behind the last.
template <class T>
void pack(const FloatsRef& x, bool terms_in_columns, Eigen::Index first, Eigen::Index width, T* strip) {
  const Eigen::Index terms = terms_in_columns ? x.cols() : x.rows();
  const Eigen::Index count = std::min(width, (terms_in_columns ? x.rows() : x.cols()) - first);
  const float* from = x.data();
  const Eigen::Index stride = x.outerStride();
  if (count < width) std::fill(strip, strip + terms * width, T(0));
  if (terms_in_columns) {
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index k = 0; k < terms; ++k) strip[k * width + i] = from[(first + i) * stride + k];
  } else {
    for (Eigen::Index k = 0; k < terms; ++k) std::copy_n(from + k * stride + first, count, strip + k * width);
  }
}

}  // namespace

FloatProduct float_product(const FloatsRef& a, Side side_a, const FloatsRef& b, Side side_b) {
  const bool a_by_columns = side_a == Side::as_it_is, b_by_columns = side_b == Side::transposed;
  const Eigen::Index rows = a_by_columns ? a.rows() : a.cols(), terms = a_by_columns ? a.cols() : a.rows();
  const Eigen::Index columns = b_by_columns ? b.rows() : b.cols();
  if (terms != (b_by_columns ? b.cols() : b.rows())) throw std::logic_error("float_product: inner sizes differ");
  FloatProduct result{Matrix<double>(rows, columns), Matrix<double>(rows, columns), Matrix<double>(rows, columns)};
  std::vector<double> left(static_cast<std::size_t>(rounded_up(rows, together) * terms));
  for (Eigen::Index i = 0; i < rows; i += together) pack(a, a_by_columns, i, together, left.data() + i * terms);
  std::vector<float> right(static_cast<std::size_t>(columns_at_once * terms));
  Block block;
  for (Eigen::Index j = 0; j < columns; j += columns_at_once) {
    pack(b, b_by_columns, j, columns_at_once, right.data());
    const auto width = static_cast<std::size_t>(std::min(columns_at_once, columns - j));
    for (Eigen::Index i = 0; i < rows; i += together) {
      multiply(left.data() + i * terms, right.data(), terms, block);
      for (Eigen::Index r = 0; r < std::min(together, rows - i); ++r) {
        std::copy_n(block.of[0][r], width, &result.value(i + r, j));
        std::copy_n(block.of[1][r], width, &result.rest(i + r, j));
        std::copy_n(block.of[2][r], width, &result.magnitude(i + r, j));
      }
    }
  }
  return result;
}

}  // namespace tally::oracle

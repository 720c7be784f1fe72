// Matrix products of long doubles and of floats by compensated binary64 arithmetic.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "oracle/real/product.hpp"
#include "oracle/real/threads.hpp"

namespace tally::oracle {
namespace {

struct Parts {
  Matrix<double> hi, lo;  // op applied
  bool floats = true;     // lo is 0 throughout
  bool in_range = true;
};

Parts split(const Matrix<long double>& x, Side side) {
  const bool turned = side == Side::transposed;
  const Eigen::Index rows = turned ? x.cols() : x.rows(), columns = turned ? x.rows() : x.cols();
  Parts parts{Matrix<double>(rows, columns), Matrix<double>(rows, columns)};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      const long double value = x(i, j);
      const auto nearest = static_cast<float>(value);
      const auto rest = static_cast<double>(value - nearest);
      const bool normal = std::isnormal(nearest) || value == 0;
      parts.in_range = parts.in_range && normal;
      parts.floats = parts.floats && rest == 0;
      const Eigen::Index at = turned ? j * columns + i : i * columns + j;
      parts.hi.data()[at] = nearest;
      parts.lo.data()[at] = rest;
    }
  }
  return parts;
}

constexpr Eigen::Index lanes = 8;
using Lanes __attribute__((vector_size(lanes * sizeof(double)), aligned(sizeof(double)), may_alias)) = double;

/// sum + lost of eight neighbouring elements of a row: a [n] times b, whose rows stand `stride` apart.
TALLY_WIDE_REGISTERS void eight_dots(const double* a, const double* b, Eigen::Index stride, Eigen::Index n, double* sum,
                                     double* lost) {
  Lanes s{}, c{};
  for (Eigen::Index k = 0; k < n; ++k, b += stride) {
    const Lanes p = a[k] * *reinterpret_cast<const Lanes*>(b), t = s + p, z = t - s;
    c += (s - (t - z)) + (p - z);
    s = t;
  }
  *reinterpret_cast<Lanes*>(sum) = s;
  *reinterpret_cast<Lanes*>(lost) = c;
}

/// The columns of b, padded with zeros to a multiple of eight.
Matrix<double> padded(const Matrix<double>& b) {
  const Eigen::Index columns = (b.cols() + lanes - 1) / lanes * lanes;
  if (columns == b.cols()) return b;
  Matrix<double> wide = Matrix<double>::Zero(b.rows(), columns);
  wide.leftCols(b.cols()) = b;
  return wide;
}

}  // namespace

std::optional<Matrix<long double>> compensated_product(const Matrix<long double>& a, Side side_a,
                                                       const Matrix<long double>& b, Side side_b) {
  const Parts left = split(a, side_a), right = split(b, side_b);
  if (!left.in_range || !right.in_range) return std::nullopt;
  if (right.hi.rows() == 0) return Matrix<long double>::Zero(left.hi.rows(), right.hi.cols());  // sums of no addends
  const Matrix<double> wide = padded(right.hi);
  Matrix<double> sum(left.hi.rows(), wide.cols()), lost(left.hi.rows(), wide.cols());
  for (Eigen::Index j = 0; j < wide.cols(); j += lanes) {
    for (Eigen::Index i = 0; i < sum.rows(); ++i) {
      eight_dots(left.hi.data() + i * left.hi.cols(), wide.data() + j, wide.cols(), left.hi.cols(),
                 sum.data() + i * sum.cols() + j, lost.data() + i * sum.cols() + j);
    }
  }
  const Eigen::Index columns = right.hi.cols();
  if (!right.floats) lost.leftCols(columns).noalias() += left.hi * right.lo;
  if (!left.floats) lost.leftCols(columns).noalias() += left.lo * (right.hi + right.lo);
  return Matrix<long double>(sum.leftCols(columns).cast<long double>() + lost.leftCols(columns).cast<long double>());
}

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

#include "oracle/real/compensated.hpp"

#include <cmath>

#include "oracle/real/wide_registers.hpp"

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

}  // namespace tally::oracle

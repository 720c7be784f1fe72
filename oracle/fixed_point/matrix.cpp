// Matrices in fixed point, and sums over their lines.
#include "oracle/fixed_point/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "oracle/real/threads.hpp"

namespace tally::oracle::fixed {
namespace {

constexpr int mantissa_bits = 53, no_exponent = -10000;

void require_finite(const Matrix<double>& values, const std::string& tensor) {
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j)
      if (!std::isfinite(values(i, j))) throw std::domain_error(not_finite(tensor, i, j));
}

/// For each line the least e with |x| < 2^e; 0 for a line of zeros.
std::vector<int> line_exponents(const Matrix<double>& values, bool by_rows) {
  std::vector<int> largest(static_cast<std::size_t>(by_rows ? values.rows() : values.cols()), no_exponent);
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      if (values(i, j) == 0) continue;
      int& at = largest[static_cast<std::size_t>(by_rows ? i : j)];
      at = std::max(at, std::ilogb(values(i, j)) + 1);
    }
  }
  std::replace(largest.begin(), largest.end(), no_exponent, 0);
  return largest;
}

/// Adds (or takes away) m 2^shift, m of 53 bits, to the number at `at` that holds 2^h.
void place(FixedMatrix& to, Eigen::Index at, std::uint64_t m, int shift, bool negative) {
  const int limb = shift / limb_bits;
  const auto wide = static_cast<unsigned __int128>(m) << (shift % limb_bits);
  std::int64_t carry = 0;
  for (int l = 0; l < to.limbs; ++l) {
    std::int64_t part = 0;
    if (l == limb || l == limb + 1) part = static_cast<std::int64_t>((wide >> ((l - limb) * limb_bits)) & limb_mask);
    std::uint64_t& digit = to.plane(l)[at];
    const std::int64_t sum = static_cast<std::int64_t>(digit) + (negative ? -part : part) + carry;
    digit = static_cast<std::uint64_t>(sum) & limb_mask;
    carry = sum >> limb_bits;
  }
}

/// Writes x / 2^exponent rounded to the nearest whole number; whether it was exact.
bool write(FixedMatrix& to, Eigen::Index at, double x, int exponent) {
  if (x == 0) return true;
  int e = 0;
  auto m = static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(x, &e)), mantissa_bits));
  int shift = e - mantissa_bits - exponent;
  bool exact = true;
  if (shift < 0) {
    const int lost = std::min(-shift, mantissa_bits + 1);
    const std::uint64_t unit = std::uint64_t{1} << lost;
    exact = (m & (unit - 1)) == 0 && lost == -shift;
    m = (m + unit / 2) >> lost;
    shift = 0;
  }
  place(to, at, m, shift, x < 0);
  return exact;
}

}  // namespace

FixedMatrix::FixedMatrix(Eigen::Index rows_, Eigen::Index columns_, int limbs_, Unset)
    : rows(rows_),
      columns(columns_),
      limbs(limbs_),
      row_exponent(static_cast<std::size_t>(rows_), 0),
      column_exponent(static_cast<std::size_t>(columns_), 0),
      row_radius(static_cast<std::size_t>(rows_), 0),
      column_radius(static_cast<std::size_t>(columns_), 0) {
  if (limbs != 3 && limbs != 5 && limbs != 7)
    throw std::logic_error("fixed point: " + std::to_string(limbs) + " limbs; expected 3, 5 or 7");
  digits.resize(static_cast<std::size_t>(limbs * size()));
}

FixedMatrix FixedMatrix::unset(Eigen::Index rows, Eigen::Index columns, int limbs) {
  return FixedMatrix(rows, columns, limbs, Unset{});
}

FixedMatrix::FixedMatrix(Eigen::Index rows_, Eigen::Index columns_, int limbs_)
    : FixedMatrix(rows_, columns_, limbs_, Unset{}) {
  std::fill(digits.begin(), digits.end(), 0);
  std::fill(plane(limbs - 1), plane(limbs - 1) + size(), top_half);
}

FixedMatrix fixed_point(const Matrix<double>& values, int limbs, Scaled scaled, const std::string& tensor) {
  require_finite(values, tensor);
  const bool by_rows = scaled == Scaled::by_rows;
  FixedMatrix result(values.rows(), values.cols(), limbs);
  std::vector<int>& exponents = by_rows ? result.row_exponent : result.column_exponent;
  std::vector<double>& radii = by_rows ? result.row_radius : result.column_radius;
  exponents = line_exponents(values, by_rows);
  for (int& e : exponents) e -= magnitude_bits(limbs);
  for (Eigen::Index i = 0; i < result.rows; ++i) {
    for (Eigen::Index j = 0; j < result.columns; ++j) {
      const auto line = static_cast<std::size_t>(by_rows ? i : j);
      if (!write(result, i * result.columns + j, values(i, j), exponents[line])) radii[line] = 0.5;
    }
  }
  return result;
}

FixedMatrix fixed_point(const Matrix<float>& values, int limbs, Scaled scaled, const std::string& tensor) {
  return fixed_point(Matrix<double>(values.cast<double>()), limbs, scaled, tensor);
}

std::string not_finite(const std::string& tensor, Eigen::Index row, Eigen::Index column) {
  return tensor + ": row " + std::to_string(row) + ", column " + std::to_string(column) +
         " is not finite; fixed point holds finite numbers only";
}

namespace {

constexpr Eigen::Index before_carry = 1 << 10;  // numbers that are added without an overflow
constexpr Eigen::Index read_beyond = 8;

}  // namespace

LineSums::LineSums(const FixedMatrix& matrix, bool by_rows, int threads)
    : lines_((by_rows ? matrix.rows : matrix.columns) + read_beyond),
      sums_(static_cast<std::size_t>((matrix.limbs + 1) * lines_), 0) {
  in_parts(lines_ - read_beyond, threads, [&](Eigen::Index first, Eigen::Index end) {
    if (by_rows)
      add_rows(matrix, first, end);
    else
      add_columns(matrix, first, end);
  });
}

void LineSums::add_rows(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end) {
  for (int l = 0; l < matrix.limbs; ++l) {
    std::uint64_t *sum = limb(l), *above = limb(l + 1);
    const std::uint64_t* from = matrix.plane(l) + first * matrix.columns;
    for (Eigen::Index i = first; i < end; ++i, from += matrix.columns) {
      for (Eigen::Index j = 0; j < matrix.columns; j += before_carry) {
        const std::uint64_t part = std::accumulate(from + j, from + std::min(j + before_carry, matrix.columns), sum[i]);
        sum[i] = part & limb_mask;
        above[i] += part >> limb_bits;
      }
    }
  }
}

void LineSums::add_columns(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end) {
  for (int l = 0; l < matrix.limbs; ++l) {
    std::uint64_t *sum = limb(l), *above = limb(l + 1);
    const std::uint64_t* from = matrix.plane(l);
    for (Eigen::Index i = 0; i < matrix.rows; ++i, from += matrix.columns) {
      for (Eigen::Index j = first; j < end; ++j) sum[j] += from[j];
      if ((i + 1) % before_carry != 0 && i + 1 != matrix.rows) continue;
      for (Eigen::Index j = first; j < end; ++j) {
        above[j] += sum[j] >> limb_bits;
        sum[j] &= limb_mask;
      }
    }
  }
}

}  // namespace tally::oracle::fixed

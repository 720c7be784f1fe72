#include "oracle/fixed/short_operand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "oracle/fixed/in_parts.hpp"
#include "oracle/real/short_ball_parts.hpp"

namespace tally::oracle::fixed {
namespace {

using short_parts::Whole;

constexpr int limbs = 3, places = magnitude_bits(limbs), middle_bits = 128;
constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min();

/// The least e with |midpoint| < 2^e; of a ball around 0, such that its radius is below 2^e.
std::int32_t size_of(const ShortBall& x) {
  if (x.middle != 0) return x.exponent;
  return x.radius == 0 ? nothing : x.exponent - middle_bits + 1;
}

/// Three limbs that stand `plane` apart.
inline void write(std::uint64_t* to, Eigen::Index plane, Whole low, std::uint64_t high, bool negative) {
  const std::uint64_t turn = -static_cast<std::uint64_t>(negative);
  const std::uint64_t d0 = ((static_cast<std::uint64_t>(low) ^ turn) & limb_mask) - turn;
  const std::uint64_t d1 = ((static_cast<std::uint64_t>(low >> limb_bits) ^ turn) & limb_mask) + (d0 >> limb_bits);
  const std::uint64_t d2 = ((static_cast<std::uint64_t>(low >> 2 * limb_bits) | high << 24) ^ turn) + (d1 >> limb_bits);
  to[0] = d0 & limb_mask;
  to[plane] = d1 & limb_mask;
  to[2 * plane] = (d2 & limb_mask) ^ top_half;
}

/// Writes the midpoint in units of 2^(e - h), e >= its own exponent, and adds to its line what is said there.
inline void write(std::uint64_t* to, Eigen::Index plane, const ShortBall& x, std::int32_t e, Line& line) {
  constexpr int most_up = places - middle_bits;
  const std::int64_t up = most_up + std::int64_t{x.exponent} - e;
  double radius = x.radius == 0 ? 0 : short_parts::scaled(x.radius, up);
  if (up >= 0 && up <= most_up) {
    write(to, plane, x.middle << up, static_cast<std::uint64_t>((x.middle >> 64) >> (64 - up)), x.negative);
  } else {  // a ball around 0 may be larger than all
    const Whole cut = up > -middle_bits && up < 0 ? x.middle >> -up : 0;
    write(to, plane, cut, 0, x.negative);
    if (x.middle != 0 && (up <= -middle_bits || cut << -up != x.middle)) radius += 1;
  }
  line.radius = std::max(line.radius, radius);
  line.radius_sum += radius;
  const double size = x.middle == 0 ? 0 : short_parts::fraction_above(x.middle) * short_parts::scaled(0x1p128, up);
  line.largest = std::max(line.largest, size);
  line.sum += size;
}

/// Makes upper bounds of at most 2^20 additions.
void round_up(std::vector<Line>& lines) {
  for (Line& line : lines)
    for (double* each : {&line.largest, &line.sum, &line.radius, &line.radius_sum}) *each *= 1 + 0x1p-32;
}

/// At least the sum of |A_k| b_k over a line a of numbers and a line b that is off.
double carried(const Line& a, const Line& b) { return std::min(a.sum * b.radius, a.largest * b.radius_sum); }

/// One line a row of `values`, whose limbs go to a row of the result, or to a column of it.
void write_by_rows(ShortOperand& to, const Matrix<ShortBall>& values, bool transposed, std::vector<int>& exponents,
                   int threads) {
  const Eigen::Index plane = to.matrix.size(), rows = values.rows(), columns = values.cols();
  in_parts(rows, threads, [&](Eigen::Index first, Eigen::Index end) {
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(rows), nothing);
    for (Eigen::Index i = first; i < end; ++i) {
      const ShortBall* row = values.data() + i * columns;
      std::int32_t e = nothing;
      for (Eigen::Index j = 0; j < columns; ++j) e = std::max(e, size_of(row[j]));
      sizes[static_cast<std::size_t>(i)] = e;
      if (e != nothing) exponents[static_cast<std::size_t>(i)] = e - places;
      if (transposed || e == nothing) continue;
      std::uint64_t* digits = to.matrix.digits.data() + i * columns;
      Line line;
      for (Eigen::Index j = 0; j < columns; ++j) write(digits + j, plane, row[j], e, line);
      to.lines[static_cast<std::size_t>(i)] = line;
    }
    if (!transposed) return;
    constexpr Eigen::Index block = 8;  // of rows: whole lines of the cache in the result
    for (Eigen::Index i = first; i < end; i += block)
      for (Eigen::Index j = 0; j < columns; ++j)
        for (Eigen::Index r = i; r < std::min(i + block, end); ++r)
          write(to.matrix.digits.data() + j * rows + r, plane, values(r, j), sizes[static_cast<std::size_t>(r)],
                to.lines[static_cast<std::size_t>(r)]);
  });
}

/// One line a column of `values`.
void write_by_columns(ShortOperand& to, const Matrix<ShortBall>& values, bool transposed, std::vector<int>& exponents,
                      int threads) {
  const Eigen::Index plane = to.matrix.size(), rows = values.rows(), columns = values.cols();
  in_parts(columns, threads, [&](Eigen::Index first, Eigen::Index end) {
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(columns), nothing);
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = first; j < end; ++j) {
        std::int32_t& e = sizes[static_cast<std::size_t>(j)];
        e = std::max(e, size_of(values(i, j)));
      }
    for (Eigen::Index j = first; j < end; ++j)
      if (sizes[static_cast<std::size_t>(j)] != nothing)
        exponents[static_cast<std::size_t>(j)] = sizes[static_cast<std::size_t>(j)] - places;
    constexpr Eigen::Index block = 8;
    for (Eigen::Index i = 0; i < rows; i += block)
      for (Eigen::Index j = first; j < end; ++j)
        for (Eigen::Index r = i; r < std::min(i + block, rows); ++r)
          write(to.matrix.digits.data() + (transposed ? j * rows + r : r * columns + j), plane, values(r, j),
                sizes[static_cast<std::size_t>(j)], to.lines[static_cast<std::size_t>(j)]);
  });
}

/// The number at `at`, cut to 128 bits, in units of 2^unit; `radius` of those.
inline ShortBall read(const std::uint64_t* at, Eigen::Index plane, int unit, double radius) {
  constexpr int below = limbs * limb_bits - middle_bits;  // bits that are below the highest 128
  const std::uint64_t top = at[2 * plane] ^ top_half, turn = -(top >> (limb_bits - 1));
  const std::uint64_t d0 = ((at[0] ^ turn) & limb_mask) - turn;
  const std::uint64_t d1 = ((at[plane] ^ turn) & limb_mask) + (d0 >> limb_bits);
  const std::uint64_t d2 = ((top ^ turn) & limb_mask) + (d1 >> limb_bits);
  Whole middle =
      Whole{d2} << (2 * limb_bits - below) | Whole{d1 & limb_mask} << (limb_bits - below) | (d0 & limb_mask) >> below;
  Whole rest = Whole{d0 & limb_mask} << (middle_bits - below);
  if (middle == 0) {
    if (rest == 0) return short_parts::result(0, short_parts::upward(radius), unit + middle_bits, false, false);
    const int zeros = short_parts::leading_zeros(rest);
    return short_parts::result(rest << zeros,
                               short_parts::upward(radius) * short_parts::two_to(zeros + middle_bits - below),
                               unit + below - zeros, turn != 0, false);
  }
  const int zeros = short_parts::leading_zeros(middle);
  middle = middle << zeros | (rest >> 1) >> (middle_bits - 1 - zeros);
  rest <<= zeros;
  return short_parts::result(middle,
                             short_parts::upward(radius * short_parts::two_to(zeros - below) + (rest != 0 ? 1 : 0)),
                             unit + middle_bits + below - zeros, turn != 0, false);
}

}  // namespace

ShortOperand short_operand(const Matrix<ShortBall>& values, bool transposed, Scaled scaled, int threads) {
  const bool lines_are_rows = (scaled == Scaled::by_rows) != transposed;  // of `values`
  const Eigen::Index rows = transposed ? values.cols() : values.rows(),
                     columns = transposed ? values.rows() : values.cols();
  ShortOperand result{FixedMatrix(rows, columns, limbs), {}};
  std::vector<int>& exponents = scaled == Scaled::by_rows ? result.matrix.row_exponent : result.matrix.column_exponent;
  result.lines.resize(exponents.size());
  if (lines_are_rows)
    write_by_rows(result, values, transposed, exponents, threads);
  else
    write_by_columns(result, values, transposed, exponents, threads);
  round_up(result.lines);
  return result;
}

Matrix<ShortBall> short_balls(const FixedMatrix& product, const ShortOperand& left, const ShortOperand& right,
                              int threads) {
  const double share = std::ldexp(1, -dropped_bits(limbs, left.matrix.columns));
  Matrix<ShortBall> result(product.rows, product.columns);
  in_parts(product.rows, threads, [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index i = first; i < end; ++i) {
      const Line& row = left.lines[static_cast<std::size_t>(i)];
      const int row_exponent = product.row_exponent[static_cast<std::size_t>(i)];
      const std::uint64_t* at = product.digits.data() + i * product.columns;
      ShortBall* to = result.data() + i * product.columns;
      for (std::size_t j = 0; j < right.lines.size(); ++j, ++at, ++to) {
        const Line& column = right.lines[j];
        double off = 0;
        if (row.radius != 0) off = carried(column, row) + row.radius * column.radius_sum;
        if (column.radius != 0) off += carried(row, column);
        if (row.is_zero() || column.is_zero())
          *to = ShortBall(0);
        else  // made in its place: copying what was just put together would wait for it
          new (to) ShortBall(read(at, product.size(), row_exponent + product.column_exponent[j], 0.5 + off * share));
      }
    }
  });
  return result;
}

}  // namespace tally::oracle::fixed

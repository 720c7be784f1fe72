#include <cmath>
#include <new>

#include "oracle/fixed/in_parts.hpp"
#include "oracle/fixed/short_lanes.hpp"
#include "oracle/fixed/short_operand.hpp"
#include "oracle/real/short_ball_parts.hpp"
#include "oracle/real/wide_registers.hpp"

namespace tally::oracle::fixed {
namespace {

using short_parts::Whole;

constexpr int below = operand_limbs * limb_bits - operand_bits;  // bits that are below the highest 128

/// At least the sum of |A_k| b_k over a line a of numbers and a line b that is off.
double carried_radius(const Line& a, const Line& b) { return std::min(a.sum * b.radius, a.largest * b.radius_sum); }

/// The number at `at`, cut to 128 bits, in units of 2^unit; `radius` of those.
inline ShortBall read(const std::uint64_t* at, Eigen::Index plane, int unit, double radius) {
  const std::uint64_t top = at[2 * plane] ^ top_half, turn = -(top >> (limb_bits - 1));
  const std::uint64_t d0 = ((at[0] ^ turn) & limb_mask) - turn;
  const std::uint64_t d1 = ((at[plane] ^ turn) & limb_mask) + (d0 >> limb_bits);
  const std::uint64_t d2 = ((top ^ turn) & limb_mask) + (d1 >> limb_bits);
  Whole middle =
      Whole{d2} << (2 * limb_bits - below) | Whole{d1 & limb_mask} << (limb_bits - below) | (d0 & limb_mask) >> below;
  Whole rest = Whole{d0 & limb_mask} << (operand_bits - below);
  if (middle == 0) {
    if (rest == 0) return short_parts::result(0, short_parts::upward(radius), unit + operand_bits, false, false);
    const int zeros = short_parts::leading_zeros(rest);
    return short_parts::result(rest << zeros,
                               short_parts::upward(radius) * short_parts::two_to(zeros + operand_bits - below),
                               unit + below - zeros, turn != 0, false);
  }
  const int zeros = short_parts::leading_zeros(middle);
  middle = middle << zeros | (rest >> 1) >> (operand_bits - 1 - zeros);
  rest <<= zeros;
  return short_parts::result(middle,
                             short_parts::upward(radius * short_parts::two_to(zeros - below) + (rest != 0 ? 1 : 0)),
                             unit + operand_bits + below - zeros, turn != 0, false);
}

/// What is known of the columns of the right operand, by what is known.
struct Columns {
  std::vector<double> largest, sum, radius, radius_sum;
  std::vector<std::int64_t> exponent;
  std::vector<std::int64_t> is_zero;  // all bits or none

  Columns(const FixedMatrix& product, const ShortOperand& right) {
    for (std::size_t j = 0; j < right.lines.size(); ++j) {
      const Line& line = right.lines[j];
      largest.push_back(line.largest), sum.push_back(line.sum);
      radius.push_back(line.radius), radius_sum.push_back(line.radius_sum);
      exponent.push_back(product.column_exponent[j]);
      is_zero.push_back(line.is_zero() ? -1 : 0);
    }
  }
};

struct Reading {
  const FixedMatrix& product;
  const ShortOperand &left, &right;
  const Columns& columns;
  double share;
};

inline double radius_of(const Line& row, const Line& column, double share) {
  return 0.5 + (carried_radius(column, row) + row.radius * column.radius_sum + carried_radius(row, column)) * share;
}

void read_one(ShortBall* to, const Reading& all, Eigen::Index i, Eigen::Index j) {
  const Line &row = all.left.lines[static_cast<std::size_t>(i)], &column = all.right.lines[static_cast<std::size_t>(j)];
  const int unit =
      all.product.row_exponent[static_cast<std::size_t>(i)] + all.product.column_exponent[static_cast<std::size_t>(j)];
  if (row.is_zero() || column.is_zero())
    *to = ShortBall(0);
  else
    *to = read(all.product.digits.data() + i * all.product.columns + j, all.product.size(), unit,
               radius_of(row, column, all.share));
}

TALLY_LANES const RealLanes& at(const std::vector<double>& numbers, Eigen::Index j) {
  return *reinterpret_cast<const RealLanes*>(numbers.data() + j);
}
TALLY_LANES const IntegerLanes& at(const std::vector<std::int64_t>& numbers, Eigen::Index j) {
  return *reinterpret_cast<const IntegerLanes*>(numbers.data() + j);
}

/// Eight neighbours as read_one does; false where one of them is not as most are.
TALLY_LANES bool read_lanes(ShortBall* to, const Reading& all, const Line& row, Eigen::Index i, Eigen::Index j) {
  const Columns& column = all.columns;
  const RealLanes radius = 0.5 + (smaller_of(at(column.sum, j) * row.radius, at(column.largest, j) * row.radius_sum) +
                                  row.radius * at(column.radius_sum, j) +
                                  smaller_of(row.sum * at(column.radius, j), row.largest * at(column.radius_sum, j))) *
                                     all.share;
  const std::uint64_t* digits = all.product.digits.data() + i * all.product.columns + j;
  const Eigen::Index plane = all.product.size();
  const WordLanes x0 = *reinterpret_cast<const WordLanes*>(digits),
                  x1 = *reinterpret_cast<const WordLanes*>(digits + plane),
                  x2 = *reinterpret_cast<const WordLanes*>(digits + 2 * plane) ^ top_half;
  const WordLanes turn = -(x2 >> (limb_bits - 1));
  const WordLanes s0 = ((x0 ^ turn) & limb_mask) - turn, s1 = ((x1 ^ turn) & limb_mask) + (s0 >> limb_bits),
                  d2 = ((x2 ^ turn) & limb_mask) + (s1 >> limb_bits), d1 = s1 & limb_mask, d0 = s0 & limb_mask;
  // The exponent of d2 >= 1 as a double tells the highest bit.
  const RealLanes as_real = __builtin_convertvector((IntegerLanes)d2, RealLanes);
  const IntegerLanes zeros = (1023 + limb_bits - 1) - (IntegerLanes)((WordLanes)as_real >> 52);
  const IntegerLanes small = d2 == 0;
  const WordLanes up = (WordLanes)(small ? IntegerLanes{} : zeros), down = limb_bits - up;
  const WordLanes y2 = (d2 << up | d1 >> down) & limb_mask, y1 = (d1 << up | d0 >> down) & limb_mask,
                  y0 = d0 << up & limb_mask;
  const WordLanes lost = y0 & ((std::uint64_t{1} << below) - 1);
  BallLanes ball;
  ball.high = y2 << 12 | y1 >> 40;
  ball.low = y1 << 24 | y0 >> below;
  const RealLanes off =
      radius * two_to((IntegerLanes)up - below) + kept_where((IntegerLanes)(lost != 0), RealLanes{} + 1);
  ball.radius = off * (1 + 0x1p-50);
  const IntegerLanes exponent = all.product.row_exponent[static_cast<std::size_t>(i)] + at(column.exponent, j) +
                                (operand_bits + below) - (IntegerLanes)up;
  ball.rest = ((WordLanes)exponent & 0xffffffff) | (turn & 1) << negative_bit;
  const IntegerLanes zero = at(column.is_zero, j);
  const IntegerLanes unusual =
      (small | (ball.radius < short_parts::least_radius) | ~(ball.radius <= short_parts::most_radius) |
       (exponent > short_parts::most_exponent) | (exponent < -short_parts::most_exponent)) &
      ~zero;
  std::int64_t any = 0;
  for (int lane = 0; lane < ball_lanes; ++lane) any |= unusual[lane];
  if (any != 0) return false;
  const auto kept = (WordLanes)~zero;
  ball.high &= kept;
  ball.low &= kept;
  ball.radius = kept_where(~zero, ball.radius);
  ball.rest = (ball.rest & kept) | (((WordLanes)zero & 1) << non_negative_bit);
  store(to, ball);
  return true;
}

TALLY_WIDE_REGISTERS void read_rows(Matrix<ShortBall>& result, const Reading& all, Eigen::Index first,
                                    Eigen::Index end) {
  for (Eigen::Index i = first; i < end; ++i) {
    const Line& row = all.left.lines[static_cast<std::size_t>(i)];
    ShortBall* to = result.data() + i * result.cols();
    Eigen::Index j = 0;
    for (; j + ball_lanes <= result.cols() && !row.is_zero(); j += ball_lanes)
      if (!read_lanes(to + j, all, row, i, j))
        for (Eigen::Index k = j; k < j + ball_lanes; ++k) read_one(to + k, all, i, k);
    for (; j < result.cols(); ++j) read_one(to + j, all, i, j);
  }
}

}  // namespace

Matrix<ShortBall> short_balls(const FixedMatrix& product, const ShortOperand& left, const ShortOperand& right,
                              int threads) {
  const Columns columns(product, right);
  const Reading all{product, left, right, columns, std::ldexp(1, -dropped_bits(operand_limbs, left.matrix.columns))};
  Matrix<ShortBall> result(product.rows, product.columns);
  in_parts(product.rows, threads, [&](Eigen::Index first, Eigen::Index end) { read_rows(result, all, first, end); });
  return result;
}

}  // namespace tally::oracle::fixed

// Products of balls of fixed size, taken back from fixed point.
#include <cmath>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "oracle/fixed_point/product.hpp"
#include "oracle/fixed_point/short_lanes.hpp"
#include "oracle/fixed_point/short_operand.hpp"
#include "oracle/real/product.hpp"
#include "oracle/real/short_ball_parts.hpp"
#include "oracle/real/threads.hpp"

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

namespace tally::oracle {
namespace fixed {
namespace {

struct Way {
  Route route;
  Schedule schedule;
};

Way& way() {
  thread_local Way chosen{fastest_route(), {}};
  return chosen;
}

/// Line `at` of a matrix as it stands or, `across`, of its transpose: its elements stand `stride` apart.
struct Elements {
  const ShortBall* first;
  Eigen::Index stride;
};

Elements elements_of(const Matrix<ShortBall>& a, Eigen::Index at, bool across) {
  return across ? Elements{a.data() + at, a.cols()} : Elements{a.data() + at * a.cols(), 1};
}

/// Term by term: exact where the bits are enough.
ShortBall dot(Elements x, Elements y, Eigen::Index terms) {
  ShortBall sum = 0;
  for (Eigen::Index k = 0; k < terms; ++k) sum += x.first[k * x.stride] * y.first[k * y.stride];
  return sum;
}

/// Fewer terms than these are summed faster one by one than they are brought to fixed point and back; more than it takes
/// must be.
bool worth_it(Eigen::Index rows, Eigen::Index terms, Eigen::Index columns) {
  return terms > 1 && terms <= most_terms &&
         rows * terms * columns > 4 * (rows * terms + terms * columns + rows * columns);
}

/// op(a) op(b), op transposing where it is said.
Matrix<ShortBall> multiplied(const Matrix<ShortBall>& a, bool transposed_a, const Matrix<ShortBall>& b,
                             bool transposed_b) {
  const Eigen::Index rows = transposed_a ? a.cols() : a.rows(), terms = transposed_a ? a.rows() : a.cols();
  const Eigen::Index columns = transposed_b ? b.rows() : b.cols(), terms_of_b = transposed_b ? b.cols() : b.rows();
  if (terms != terms_of_b)
    throw std::logic_error("matrix product: inner sizes " + std::to_string(terms) + " and " +
                           std::to_string(terms_of_b) + " differ");
  const auto summed = [&](Eigen::Index i, Eigen::Index j) {
    return dot(elements_of(a, i, transposed_a), elements_of(b, j, !transposed_b), terms);
  };
  if (!worth_it(rows, terms, columns)) {
    Matrix<ShortBall> result(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j) result(i, j) = summed(i, j);
    return result;
  }
  const auto& [route, schedule] = way();
  const ShortOperand left = short_operand(a, transposed_a, Scaled::by_rows, schedule.threads);
  const ShortOperand right = short_operand(b, transposed_b, Scaled::by_columns, schedule.threads);
  const FixedMatrix found = product(left.matrix, right.matrix, route, schedule);
  Matrix<ShortBall> result = short_balls(found, left, right, schedule.threads);
  // A sum that is 0 or whose terms cancel: maybe exactly, which only the terms can tell.
  in_parts(rows, schedule.threads, [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index i = first; i < end; ++i)
      for (Eigen::Index j = 0; j < columns; ++j)
        if (result(i, j).sign() == ShortBall::open) {
          const ShortBall again = summed(i, j);
          if (again.sign() != ShortBall::open) result(i, j) = again;
        }
  });
  return result;
}

}  // namespace

ProductsScope::ProductsScope(Route route, const Schedule& schedule)
    : route_before_(std::exchange(way().route, route)), schedule_before_(std::exchange(way().schedule, schedule)) {}
ProductsScope::~ProductsScope() { way() = {route_before_, schedule_before_}; }

int threads_of_products() { return way().schedule.threads; }

}  // namespace fixed

template <>
Matrix<ShortBall> product(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, false, b, false);
}

template <>
Matrix<ShortBall> product_with_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, false, b, true);
}

template <>
Matrix<ShortBall> product_of_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, true, b, false);
}

template <>
Matrix<ShortBall> column_sums(const Matrix<ShortBall>& a) {
  Matrix<ShortBall> result = Matrix<ShortBall>::Zero(1, a.cols());
  fixed::in_parts(a.cols(), fixed::way().schedule.threads, [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = 0; r < a.rows(); ++r)
      for (Eigen::Index c = first; c < end; ++c) result(0, c) += a(r, c);
  });
  return result;
}

}  // namespace tally::oracle

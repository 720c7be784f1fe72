// Balls of fixed size as operands.
#include "oracle/fixed_point/short_operand.hpp"

#include <algorithm>
#include <limits>

#include "oracle/fixed_point/short_lanes.hpp"
#include "oracle/real/threads.hpp"

namespace tally::oracle::fixed {
namespace {

constexpr int places = magnitude_bits(operand_limbs);
constexpr std::int64_t most_down = 160;   // more leaves nothing
constexpr std::int64_t most_scale = 600;  // as short_parts::scaled
constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min();

/// The largest of eight |x|: the least e with |midpoint| < 2^e; of balls around 0, such that their radius is below 2^e.
TALLY_LANES IntegerLanes sizes_of(const BallLanes& x) {
  const IntegerLanes exponent = exponents(x), around_zero = x.high == 0;
  const IntegerLanes of_radius = x.radius == 0 ? IntegerLanes{} + nothing : exponent - operand_bits + 1;
  return around_zero ? of_radius : exponent;
}

/// Limbs of eight midpoints, and what they add to their lines.
struct Cut {
  WordLanes limb[operand_limbs];
  RealLanes size, radius;
};

/// In units of 2^(e - h), e >= the exponents of all midpoints but 0.
TALLY_LANES void cut(Cut& to, const BallLanes& x, const IntegerLanes& e) {
  constexpr int up = places - operand_bits;
  static_assert(up == 27);
  // The midpoint times 2^up in limbs, and how far it goes down from there: by whole limbs, then by bits.
  const WordLanes a0 = (x.low << up) & limb_mask,
                  a1 = (x.low >> (limb_bits - up) | x.high << (64 - limb_bits + up)) & limb_mask,
                  a2 = x.high >> (2 * limb_bits - up - 64);
  const IntegerLanes down = e - exponents(x);
  IntegerLanes places_down = down < 0 ? IntegerLanes{} : down;
  places_down = places_down > most_down ? IntegerLanes{} + most_down : places_down;
  const IntegerLanes one = places_down >= limb_bits, two = places_down >= 2 * limb_bits;
  const auto bits = (WordLanes)(places_down - (one & limb_bits) - (two & limb_bits));
  const auto none = WordLanes{};
  const WordLanes b0 = two ? a2 : one ? a1 : a0, b1 = two ? none : one ? a2 : a1, b2 = one ? none : a2;
  const WordLanes gone = two ? a0 | a1 : one ? a0 : none, back = bits > limb_bits ? none : limb_bits - bits;
  const WordLanes c0 = b0 >> bits | (b1 << back & limb_mask), c1 = b1 >> bits | (b2 << back & limb_mask),
                  c2 = b2 >> bits;
  const IntegerLanes lost = (gone | (b0 & (((none + 1) << bits) - 1))) != 0;
  const WordLanes turn = negatives(x);
  const WordLanes d0 = ((c0 ^ turn) & limb_mask) - turn, d1 = ((c1 ^ turn) & limb_mask) + (d0 >> limb_bits);
  to.limb[0] = d0 & limb_mask;
  to.limb[1] = d1 & limb_mask;
  to.limb[2] = (((c2 ^ turn) + (d1 >> limb_bits)) & limb_mask) ^ top_half;
  // As numbers, rounded upward; what is scaled down is scaled by 2^-600 at most.
  IntegerLanes scale = up - down;
  scale = scale < -most_scale ? IntegerLanes{} - most_scale : scale > most_scale ? IntegerLanes{} + most_scale : scale;
  const RealLanes unit = two_to(scale);
  const IntegerLanes is_set = x.high != 0;
  const RealLanes fraction = (__builtin_convertvector((IntegerLanes)(x.high >> 11), RealLanes) + 1) * 0x1p-53;
  to.size = kept_where(is_set, fraction * (unit * 0x1p128));
  to.radius = x.radius * unit + kept_where(lost, RealLanes{} + 1);
}

/// What eight lines need to be told of their numbers, or one line of those that stand eight apart.
struct Totals {
  RealLanes largest{}, sum{}, radius{}, radius_sum{};
  IntegerLanes size = IntegerLanes{} + nothing;
};

TALLY_LANES void add(Totals& to, const Cut& of) {
  to.largest = larger_of(to.largest, of.size);
  to.sum += of.size;
  to.radius = larger_of(to.radius, of.radius);
  to.radius_sum += of.radius;
}

Line together(const Totals& of) {
  Line line;
  for (int lane = 0; lane < ball_lanes; ++lane) {
    line.largest = std::max(line.largest, of.largest[lane]);
    line.sum += of.sum[lane];
    line.radius = std::max(line.radius, of.radius[lane]);
    line.radius_sum += of.radius_sum[lane];
  }
  return line;
}

Line one_of(const Totals& of, int lane) {
  return {of.largest[lane], of.sum[lane], of.radius[lane], of.radius_sum[lane]};
}

/// Neighbours in a row from column j on: the last of them, fewer than eight, with zeros.
TALLY_LANES void load_from(BallLanes& x, const Matrix<ShortBall>& values, Eigen::Index i, Eigen::Index j) {
  const ShortBall* from = values.data() + i * values.cols() + j;
  if (j + ball_lanes <= values.cols()) return load(x, from);
  ShortBall last[ball_lanes];
  std::fill(std::copy(from, from + (values.cols() - j), last), last + ball_lanes, ShortBall(0));
  load(x, last);
}

/// Where the limbs of a matrix go, or of its transpose.
struct Target {
  std::uint64_t* digits;
  Eigen::Index rows, columns;  // of the values
  bool transposed;
};

/// Up to eight rows and columns of the values.
struct Block {
  Eigen::Index i, rows, j, columns;
};

TALLY_LANES void put(const Target& to, const Cut (&cuts)[ball_lanes], const Block& block) {
  const auto& [i, rows, j, columns] = block;
  const Eigen::Index plane = to.rows * to.columns;
  for (int l = 0; l < operand_limbs; ++l) {
    if (to.transposed) {
      std::uint64_t* at = to.digits + l * plane + j * to.rows + i;
      for (Eigen::Index c = 0; c < columns; ++c)
        for (Eigen::Index r = 0; r < rows; ++r) at[c * to.rows + r] = cuts[r].limb[l][c];
      continue;
    }
    std::uint64_t* at = to.digits + l * plane + i * to.columns + j;
    for (Eigen::Index r = 0; r < rows; ++r, at += to.columns) {
      if (columns == ball_lanes)
        *reinterpret_cast<WordLanes*>(at) = cuts[r].limb[l];
      else
        for (Eigen::Index c = 0; c < columns; ++c) at[c] = cuts[r].limb[l][c];
    }
  }
}

/// Makes upper bounds of at most 2^20 additions.
void round_up(std::vector<Line>& lines) {
  for (Line& line : lines)
    for (double* each : {&line.largest, &line.sum, &line.radius, &line.radius_sum}) *each *= 1 + 0x1p-32;
}

/// Rows first .. end - 1, each a line of its own: sizes[i] of row i is told and its numbers are cut to it.
TALLY_WIDE_REGISTERS void cut_rows(const Target& to, const Matrix<ShortBall>& values, std::int32_t* sizes, Line* lines,
                                   Eigen::Index first, Eigen::Index end) {
  for (Eigen::Index i = first; i < end; i += ball_lanes) {
    const Eigen::Index rows = std::min<Eigen::Index>(ball_lanes, end - i);
    IntegerLanes size[ball_lanes];
    Totals totals[ball_lanes] = {};
    for (Eigen::Index r = 0; r < rows; ++r) {
      IntegerLanes most = IntegerLanes{} + nothing;
      for (Eigen::Index j = 0; j < values.cols(); j += ball_lanes) {
        BallLanes x;
        load_from(x, values, i + r, j);
        const IntegerLanes found = sizes_of(x);
        most = most > found ? most : found;
      }
      std::int64_t of_row = nothing;
      for (int lane = 0; lane < ball_lanes; ++lane) of_row = std::max<std::int64_t>(of_row, most[lane]);
      sizes[i + r] = static_cast<std::int32_t>(of_row);
      size[r] = IntegerLanes{} + of_row;
    }
    for (Eigen::Index j = 0; j < values.cols(); j += ball_lanes) {
      Cut block[ball_lanes];
      for (Eigen::Index r = 0; r < rows; ++r) {
        BallLanes x;
        load_from(x, values, i + r, j);
        cut(block[r], x, size[r]);
        add(totals[r], block[r]);
      }
      put(to, block, {i, rows, j, std::min<Eigen::Index>(ball_lanes, values.cols() - j)});
    }
    for (Eigen::Index r = 0; r < rows; ++r) lines[i + r] = together(totals[r]);
  }
}

/// Columns first .. end - 1, a multiple of eight from the first on, each a line of its own.
TALLY_WIDE_REGISTERS void cut_columns(const Target& to, const Matrix<ShortBall>& values, std::int32_t* sizes,
                                      Line* lines, Eigen::Index first, Eigen::Index end) {
  const auto blocks = static_cast<std::size_t>((end - first + ball_lanes - 1) / ball_lanes);
  std::vector<Totals> totals(blocks);
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (std::size_t b = 0; b < blocks; ++b) {
      BallLanes x;
      load_from(x, values, i, first + static_cast<Eigen::Index>(b) * ball_lanes);
      const IntegerLanes found = sizes_of(x);
      totals[b].size = totals[b].size > found ? totals[b].size : found;
    }
  for (Eigen::Index i = 0; i < values.rows(); i += ball_lanes) {
    const Eigen::Index rows = std::min<Eigen::Index>(ball_lanes, values.rows() - i);
    for (std::size_t b = 0; b < blocks; ++b) {
      const Eigen::Index j = first + static_cast<Eigen::Index>(b) * ball_lanes;
      Cut block[ball_lanes];
      for (Eigen::Index r = 0; r < rows; ++r) {
        BallLanes x;
        load_from(x, values, i + r, j);
        cut(block[r], x, totals[b].size);
        add(totals[b], block[r]);
      }
      put(to, block, {i, rows, j, std::min<Eigen::Index>(ball_lanes, end - j)});
    }
  }
  for (Eigen::Index j = first; j < end; ++j) {
    const auto b = static_cast<std::size_t>((j - first) / ball_lanes);
    const auto lane = static_cast<int>((j - first) % ball_lanes);
    sizes[j] = static_cast<std::int32_t>(totals[b].size[lane]);
    lines[j] = one_of(totals[b], lane);
  }
}

}  // namespace

ShortOperand short_operand(const Matrix<ShortBall>& values, bool transposed, Scaled scaled, int threads) {
  const bool lines_are_rows = (scaled == Scaled::by_rows) != transposed;  // of `values`
  const Eigen::Index rows = transposed ? values.cols() : values.rows(),
                     columns = transposed ? values.rows() : values.cols();
  ShortOperand result{FixedMatrix::unset(rows, columns, operand_limbs), {}};
  std::vector<int>& exponents = scaled == Scaled::by_rows ? result.matrix.row_exponent : result.matrix.column_exponent;
  result.lines.resize(exponents.size());
  const Target target{result.matrix.digits.data(), values.rows(), values.cols(), transposed};
  std::vector<std::int32_t> sizes(exponents.size());
  if (lines_are_rows)
    in_parts(values.rows(), threads, [&](Eigen::Index first, Eigen::Index end) {
      cut_rows(target, values, sizes.data(), result.lines.data(), first, end);
    });
  else  // whole vectors of columns
    in_parts((values.cols() + ball_lanes - 1) / ball_lanes, threads, [&](Eigen::Index first, Eigen::Index end) {
      cut_columns(target, values, sizes.data(), result.lines.data(), first * ball_lanes,
                  std::min(end * ball_lanes, values.cols()));
    });
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != nothing) exponents[i] = sizes[i] - places;
  round_up(result.lines);
  return result;
}

}  // namespace tally::oracle::fixed

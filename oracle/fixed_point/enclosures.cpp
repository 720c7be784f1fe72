// Between matrices in fixed point and the oracle's other scalars.
#include "oracle/fixed_point/enclosures.hpp"

#include <algorithm>
#include <stdexcept>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle::fixed {
namespace {

constexpr slong far = slong{1} << 24, nothing = -2 * far;

/// The least e with |midpoint| < 2^e, or one with the radius at most 2^e if that is larger; `nothing` for 0.
slong exponent_of(const Ball& x) {
  const arf_srcptr middle = arb_midref(view(x));
  const mag_srcptr radius = arb_radref(view(x));
  if (arb_is_zero(view(x))) return nothing;
  if (arf_cmpabs_2exp_si(middle, far) >= 0 || mag_cmp_2exp_si(radius, far) >= 0 ||
      (!arf_is_zero(middle) && arf_cmpabs_2exp_si(middle, -far) < 0))
    throw std::range_error("fixed point: the exponent of " + shown(x) + " is beyond 2^24");
  const slong of_middle = arf_is_zero(middle) ? nothing : fmpz_get_si(ARF_EXPREF(middle));
  if (mag_cmp_2exp_si(radius, -far) < 0) return std::max(of_middle, -far);
  return std::max(of_middle, static_cast<slong>(fmpz_get_si(MAG_EXPREF(radius))));
}

void require_finite_balls(const Matrix<Ball>& values, const std::string& tensor) {
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j)
      if (arb_is_finite(view(values(i, j))) == 0) throw std::domain_error(not_finite(tensor, i, j));
}

std::vector<int> ball_exponents(const Matrix<Ball>& values, bool by_rows) {
  std::vector<slong> largest(static_cast<std::size_t>(by_rows ? values.rows() : values.cols()), nothing);
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      slong& at = largest[static_cast<std::size_t>(by_rows ? i : j)];
      at = std::max(at, exponent_of(values(i, j)));
    }
  std::vector<int> result;
  for (const slong e : largest) result.push_back(e == nothing ? 0 : static_cast<int>(e));
  return result;
}

/// Writes the whole number A as X = A + 2^h.
void write_ball(FixedMatrix& to, Eigen::Index at, const fmpz_t whole) {
  fmpz_t rest, limb;
  fmpz_init_set(rest, whole);
  fmpz_init(limb);
  for (int l = 0; l < to.limbs; ++l) {
    fmpz_fdiv_r_2exp(limb, rest, limb_bits);
    to.plane(l)[at] = fmpz_get_ui(limb);
    fmpz_fdiv_q_2exp(rest, rest, limb_bits);
  }
  to.plane(to.limbs - 1)[at] ^= top_half;
  fmpz_clear(limb);
  fmpz_clear(rest);
}

/// A, from X = A + 2^h.
void read_whole(fmpz_t whole, const FixedMatrix& from, Eigen::Index at) {
  fmpz_zero(whole);
  for (int l = from.limbs - 1; l >= 0; --l) {
    fmpz_mul_2exp(whole, whole, limb_bits);
    fmpz_add_ui(whole, whole, from.plane(l)[at]);
  }
  fmpz_t half;
  fmpz_init(half);
  fmpz_setbit(half, static_cast<ulong>(magnitude_bits(from.limbs)));
  fmpz_sub(whole, whole, half);
  fmpz_clear(half);
}

/// x / 2^exponent as a whole number below 2^h; what is off in halves of a unit, upward.
ulong nearest_whole(fmpz_t whole, const Ball& x, int exponent, int limbs) {
  arf_t scaled;
  arf_init(scaled);
  arf_mul_2exp_si(scaled, arb_midref(view(x)), -exponent);
  ulong halves = arf_get_fmpz(whole, scaled, ARF_RND_NEAR) != 0 ? 1 : 0;
  arf_clear(scaled);
  if (fmpz_sgn(whole) > 0 && fmpz_bits(whole) > static_cast<ulong>(magnitude_bits(limbs))) {
    fmpz_sub_ui(whole, whole, 1);  // the only one that has no place is 2^h
    halves = 2;
  }
  return halves;
}

/// Writes x / 2^exponent; the radius in units, upward.
double write_ball(FixedMatrix& to, Eigen::Index at, const Ball& x, int exponent) {
  fmpz_t whole;
  fmpz_init(whole);
  const ulong halves = nearest_whole(whole, x, exponent, to.limbs);
  write_ball(to, at, whole);
  mag_t radius, off;
  mag_init(radius);
  mag_init(off);
  mag_mul_2exp_si(radius, arb_radref(view(x)), -exponent);
  mag_set_ui_2exp_si(off, halves, -1);
  if (halves != 0) mag_add(radius, radius, off);
  mag_clear(off);
  const double result = mag_get_d(radius);
  mag_clear(radius);
  fmpz_clear(whole);
  return result;
}

/// f(i, j, ball) of every element, in order.
template <class F>
void each_ball(const FixedMatrix& matrix, F f) {
  fmpz_t whole;
  fmpz_init(whole);
  for (Eigen::Index i = 0; i < matrix.rows; ++i) {
    for (Eigen::Index j = 0; j < matrix.columns; ++j) {
      const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
      Ball x;
      read_whole(whole, matrix, i * matrix.columns + j);
      arf_set_fmpz(arb_midref(view(x)), whole);
      mag_t part;
      mag_init(part);
      mag_set_d(arb_radref(view(x)), matrix.row_radius[r]);
      mag_set_d(part, matrix.column_radius[c]);
      mag_add(arb_radref(view(x)), arb_radref(view(x)), part);
      mag_clear(part);
      arb_mul_2exp_si(view(x), view(x), slong{matrix.row_exponent[r]} + matrix.column_exponent[c]);
      x.set_non_negative(arb_is_nonnegative(view(x)) != 0);
      f(i, j, x);
    }
  }
  fmpz_clear(whole);
}

}  // namespace

FixedMatrix fixed_point(const Matrix<Ball>& values, int limbs, Scaled scaled, const std::string& tensor) {
  require_finite_balls(values, tensor);
  const bool by_rows = scaled == Scaled::by_rows;
  FixedMatrix result(values.rows(), values.cols(), limbs);
  std::vector<int>& exponents = by_rows ? result.row_exponent : result.column_exponent;
  std::vector<double>& radii = by_rows ? result.row_radius : result.column_radius;
  exponents = ball_exponents(values, by_rows);
  for (int& e : exponents) e -= magnitude_bits(limbs);
  for (Eigen::Index i = 0; i < result.rows; ++i) {
    for (Eigen::Index j = 0; j < result.columns; ++j) {
      const auto line = static_cast<std::size_t>(by_rows ? i : j);
      radii[line] = std::max(radii[line], write_ball(result, i * result.columns + j, values(i, j), exponents[line]));
    }
  }
  return result;
}

FixedMatrix fixed_point(const Matrix<Real>& values, int limbs, Scaled scaled, const std::string& tensor) {
  Matrix<Ball> points(values.rows(), values.cols());
  for (Eigen::Index i = 0; i < values.size(); ++i)
    arf_set_mpfr(arb_midref(view(points.data()[i])), raw(values.data()[i]));
  return fixed_point(points, limbs, scaled, tensor);
}

Matrix<Ball> enclosed(const FixedMatrix& matrix) {
  Matrix<Ball> result(matrix.rows, matrix.columns);
  each_ball(matrix, [&](Eigen::Index i, Eigen::Index j, const Ball& x) { result(i, j) = x; });
  return result;
}

Matrix<Real> midpoints(const FixedMatrix& matrix) {
  Matrix<Real> result(matrix.rows, matrix.columns);
  each_ball(matrix, [&](Eigen::Index i, Eigen::Index j, const Ball& x) {
    arf_get_mpfr(raw(result(i, j)), arb_midref(view(x)), MPFR_RNDN);
  });
  return result;
}

}  // namespace tally::oracle::fixed

// Derivatives without calculus: central differences, extrapolated. The route shares nothing with a chain rule, so an
// error in a derivation cannot hide in both.
#pragma once

#include <functional>
#include <vector>

#include "oracle/real/functions.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {

/// f(offset) at the current precision.
using Line = std::function<Real(const Real& offset)>;

/// (f(h) - f(-h)) / 2h has an error in even powers of h; each level of halving h removes one of them (Richardson).
constexpr int extrapolation_levels = 6;
constexpr int first_step_bits = 8;  // h = 2^-8, 2^-9, ...
constexpr unsigned coarse_digits = 100, fine_digits = 150;

/// The last row of the table: entry k has k powers of h removed.
inline std::vector<Real> extrapolated(const Line& f) {
  std::vector<Real> row;
  for (int level = 0; level <= extrapolation_levels; ++level) {
    const Real h = power(Real(0.5), first_step_bits + level);
    std::vector<Real> next{(f(h) - f(-h)) / (2 * h)};
    for (int k = 1; k <= level; ++k) {
      const Real weight = power(Real(4), k);
      next.push_back((weight * next.back() - row[static_cast<std::size_t>(k) - 1]) / (weight - 1));
    }
    row = std::move(next);
  }
  return row;
}

struct Derivative {
  Real value;        // at fine_digits
  Real uncertainty;  // truncation, from the last two levels, and rounding, from two precisions
};

/// `line` makes f anew at the precision that is set when it is called.
inline Derivative derivative(const std::function<Line()>& line) {
  const DigitsScope scope(coarse_digits);
  const Real coarse = extrapolated(line()).back();
  set_digits(fine_digits);
  const std::vector<Real> fine = extrapolated(line());
  const Real truncation = magnitude(fine.back() - fine[fine.size() - 2]);
  return {fine.back(), truncation + magnitude(fine.back() - coarse)};
}

/// What `extrapolation_levels` must leave of a function that is analytic within 1/4 of the point: (4 h)^(2 levels). A
/// check whose uncertainty is larger proves nothing and must fail.
inline Real informative(const Real& scale) {
  return (1 + magnitude(scale)) * power(Real(0.5), 2 * (first_step_bits - 2) * extrapolation_levels);
}

/// For messages.
inline double shown(const Real& x) { return static_cast<double>(x); }

}  // namespace tally::oracle

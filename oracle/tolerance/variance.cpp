#include "oracle/tolerance/variance.hpp"

#include "oracle/tolerance/constants.hpp"

namespace tally::oracle {
namespace {

/// fl(sum fl(1/n)): as given, and the rounding alone at the subject's own inputs.
struct MeanBound {
  Bounded given;
  double rounding;
};

MeanBound mean_by_sum(const Declared& declared, double height, const Sample& x) {
  const Arithmetic fp32 = single();
  const Bounded inverse = reciprocal(declared, x.n);
  const auto sum = [&](double e) { return Addends{x.mean * x.n, e, x.magnitude * x.n, x.n, x.finite_magnitude * x.n}; };
  const Bounded given = fp32.mul(fp32.sum(sum(x.moved_mean * x.n), height), inverse);
  const Bounded read = fp32.mul(fp32.sum(sum(0), height), inverse);
  const double of_moved = x.moved_mean * x.n * (inverse.e + 2 * fp32.u() * inverse.v);
  return {given, read.e + of_moved};
}

Bounded not_finite(const Sample& x) { return {NAN, x.moved < infinite ? 0 : infinite}; }

}  // namespace

bool Sample::finite() const { return std::isfinite(variance); }

double Sample::passed_on() const { return 2 * std::sqrt(variance) * moved + moved * moved; }

Sample sample_of(const std::vector<Bounded>& x) {
  Sample s;
  s.n = static_cast<double>(x.size());
  for (const Bounded& item : x) {
    const double size = std::fabs(item.v) + item.e;
    s.mean += item.v;
    s.moved_mean += item.e;
    s.moved += item.e * item.e;
    s.magnitude += size;
    if (std::isfinite(item.v)) s.finite_magnitude += size;
    s.square += size * size;
    s.largest = std::max(s.largest, size);
  }
  for (double* total : {&s.mean, &s.moved_mean, &s.moved, &s.magnitude, &s.finite_magnitude, &s.square}) *total /= s.n;
  for (const Bounded& item : x) s.variance += (item.v - s.mean) * (item.v - s.mean);
  s.variance /= s.n;
  s.moved = std::sqrt(s.moved);
  return s;
}

/// sum (x - m^)^2 = sum (x - m)^2 + n (m^ - m)^2, so the rounded mean costs its error squared; every term then carries
/// the same h + 5 roundings: two of d, one of d d, h additions, 1/n and the product. Inputs within e_x move the root
/// of the variance by at most r, the root mean square of e_x.
MeanAndVariance two_pass(const Declared& declared, double height, const Sample& x) {
  const MeanBound mean = mean_by_sum(declared, height, x);
  if (!x.finite()) return {mean.given, not_finite(x)};
  const Arithmetic fp32 = single();
  const double shift = mean.rounding * mean.rounding, passed_on = x.passed_on();
  const double e =
      passed_on + shift + gam(height + 5, fp32.u()) * (x.variance + passed_on + shift) + 4 * fp32.underflow();
  return {mean.given, {x.variance, x.n * (x.variance + e) < fp32.threshold() ? e * inflation : infinite}};
}

/// E[x^2] carries h + 3 roundings of E[x^2]; the square of the mean its error twice and one rounding; the difference
/// one more. The exact variance is not negative, so cutting at 0 brings the subject no further away. Where an x is not
/// finite, cutting may turn NaN into 0.
MeanAndVariance one_pass(const Declared& declared, double height, const Sample& x) {
  const MeanBound mean = mean_by_sum(declared, height, x);
  if (!x.finite()) return {mean.given, {NAN, infinite}};
  const Arithmetic fp32 = single();
  const double growth = gam(height + 3, fp32.u()), passed_on = x.passed_on();
  const double m = std::fabs(x.mean) + x.moved_mean, wrong = mean.rounding;
  const double difference = growth * x.square + (2 * m + wrong) * wrong + fp32.u() * (m + wrong) * (m + wrong);
  const double rounding = difference + fp32.u() * (x.variance + passed_on + difference) + 4 * fp32.underflow();
  const bool finite = x.n * x.square * (1 + growth) < fp32.threshold();
  return {mean.given, {x.variance, finite ? (passed_on + rounding) * inflation : infinite}};
}

}  // namespace tally::oracle

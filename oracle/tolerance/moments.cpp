// Mean and biased variance by each algorithm that a subject may declare.
#include "oracle/tolerance/moments.hpp"

#include <stdexcept>

#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

bool any_algorithm(const KernelClaim& claim) { return claim.algorithm.empty() || claim.algorithm == "any"; }

}  // namespace

/// By the claimed algorithm, or with the larger bound of all where none is.
MeanAndVariance sample_statistics(const Declared& declared, const KernelClaim& claim, const Sample& x) {
  const double h = height_of(claim, x.n);
  if (claim.algorithm == "two_pass") return two_pass(declared, h, x);
  if (claim.algorithm == "one_pass") return one_pass(declared, h, x);
  if (claim.algorithm == "welford") return welford(declared, h, x);
  if (!any_algorithm(claim)) {
    throw std::logic_error("statistics by '" + claim.algorithm +
                           "' have no bound; expected two_pass, one_pass, welford or any");
  }
  const auto first = two_pass(declared, h, x), second = one_pass(declared, h, x), third = welford(declared, h, x);
  return {wider(wider(first.mean, second.mean), third.mean),
          wider(wider(first.variance, second.variance), third.variance)};
}

Bounded rstd_of(const Declared& declared, Bounded var, Bounded eps, bool by_function) {
  const Arithmetic fp32 = single(declared);
  const Bounded w = fp32.add(var, eps), quotient = fp32.div({1, 0}, fp32.sqrt(w));
  const double least = std::max(w.v - w.e, eps.v - eps.e);  // no claimed variance is negative
  if (!std::isfinite(w.v) || !decided(w) || !(least > 0)) return shared(quotient);
  const double v = 1 / std::sqrt(w.v);
  const double spread =
      std::max(1 / std::sqrt(least) - v, v - 1 / std::sqrt(w.v + w.e)) + fp32.accumulated(v * 0x1p-51);
  const double roundings = by_function ? fp32.relative_error_of(documented(2)) : gam(2, fp32.u());
  const Bounded cut{v, (spread + roundings * (v + spread)) * inflation};
  return shared(by_function || !(quotient.e <= cut.e) ? cut : quotient);
}

Moments sample_moments(const Declared& declared, const KernelClaim& claim, const std::vector<Bounded>& x, Bounded eps) {
  const MeanAndVariance found = sample_statistics(declared, claim, sample_of(x));
  return {shared(found.mean), shared(found.variance),
          rstd_of(declared, found.variance, eps, claim.rsqrt || any_algorithm(claim))};
}

namespace {

/// fl(sum fl(1/n)): as given, and the rounding alone at the subject's own inputs.
struct MeanBound {
  Bounded given;
  double rounding;
};

MeanBound mean_by_sum(const Declared& declared, double height, const Sample& x) {
  const Arithmetic fp32 = single(declared);
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
  const Arithmetic fp32 = single(declared);
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
  const Arithmetic fp32 = single(declared);
  const double growth = gam(height + 3, fp32.u()), passed_on = x.passed_on();
  const double m = std::fabs(x.mean) + x.moved_mean, wrong = mean.rounding;
  const double difference = growth * x.square + (2 * m + wrong) * wrong + fp32.u() * (m + wrong) * (m + wrong);
  const double rounding = difference + fp32.u() * (x.variance + passed_on + difference) + 4 * fp32.underflow();
  const bool finite = x.n * x.square * (1 + growth) < fp32.threshold();
  return {mean.given, {x.variance, finite ? (passed_on + rounding) * inflation : infinite}};
}

// The proof that these lines state is in oracle/variants.md, "Welford and Chan".
namespace {

struct Growth {
  double merges, logarithm;  // height of the tree, log2 n
  double weighted;           // G: the three roundings of delta n_b / n
  double chained;            // (1 + u + 2 G)^merges, what one node's error becomes at the root
};

Growth growth_of(double u, double height, double n) {
  const double weighted = gam(3, u) * (1 + u);
  return {height, n > 1 ? std::log2(n) : 0, weighted, 1 + gam(height, u + 2 * weighted)};
}

/// |m^ - m| <= chained (u sum n_k |m_k| / n + G sum n_b |delta| / n), the sums over all merges.
double mean_rounding(const Arithmetic& fp32, const Growth& g, const Sample& x, double sigma) {
  const double paths = std::min(g.merges * x.magnitude, (x.n + 1) / 2 * x.largest);
  const double steps = std::min(g.merges, (x.n + 1) / 2);
  const double corrections = g.weighted * sigma * std::sqrt(3 * g.logarithm);
  return g.merges > 0 ? g.chained * (fp32.u() * paths + corrections + steps * fp32.underflow()) : 0;
}

/// sqrt(sum omega (e_a + e_b)^2 / n): how far the errors of all parts' means move the root of the variance.
double root_moved(const Arithmetic& fp32, const Growth& g, const Sample& x, double sigma) {
  const double per_step = fp32.u() * x.largest + fp32.underflow();
  const double from_means = per_step * std::min(0.4331 * x.n, g.merges * std::sqrt(2 * g.logarithm));
  return g.chained * (from_means + 3.2 * g.weighted * g.logarithm * sigma);
}

}  // namespace

MeanAndVariance welford(const Declared& declared, double height, const Sample& x) {
  const Arithmetic fp32 = single(declared);
  const Growth g = growth_of(fp32.u(), height, x.n);
  if (!x.finite()) return {{x.mean, x.moved_mean < infinite ? 0 : infinite}, {NAN, x.moved < infinite ? 0 : infinite}};
  const double passed_on = x.passed_on(), sigma = std::sqrt(x.variance) + x.moved;
  const double moved = root_moved(fp32, g, x, sigma), grown = sigma + moved;
  const double updates = std::sqrt(2) * (fp32.u() * x.largest + fp32.underflow()) * grown;
  const double additions = std::min(2 * height, x.n - 1);
  const double e = passed_on + (2 * sigma + moved) * moved + updates +
                   gam(additions + 9, fp32.u()) * (grown * grown + updates) + 8 * fp32.underflow();
  const double e_mean = x.moved_mean + mean_rounding(fp32, g, x, sigma);
  const bool finite = 4 * x.n * (x.variance + e) < fp32.threshold();
  return {{x.mean, finite ? e_mean * inflation : infinite}, {x.variance, finite ? e * inflation : infinite}};
}

}  // namespace tally::oracle

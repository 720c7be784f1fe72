// The proof that these lines state is in oracle/variants.md, "Welford and Chan".
#include "oracle/tolerance/variance.hpp"

namespace tally::oracle {
namespace {

struct Growth {
  double merges, logarithm;  // height of the tree, log2 n
  double weighted;           // G: the three roundings of delta n_b / n
  double chained;            // (1 + u + 2 G)^merges, what one node's error becomes at the root
};

Growth growth_of(double height, double n) {
  const double u = single().u(), weighted = gam(3, u) * (1 + u);
  return {height, n > 1 ? std::log2(n) : 0, weighted, 1 + gam(height, u + 2 * weighted)};
}

/// |m^ - m| <= chained (u sum n_k |m_k| / n + G sum n_b |delta| / n), the sums over all merges.
double mean_rounding(const Growth& g, const Sample& x, double sigma) {
  const Arithmetic fp32 = single();
  const double paths = std::min(g.merges * x.magnitude, (x.n + 1) / 2 * x.largest);
  const double steps = std::min(g.merges, (x.n + 1) / 2);
  const double corrections = g.weighted * sigma * std::sqrt(3 * g.logarithm);
  return g.merges > 0 ? g.chained * (fp32.u() * paths + corrections + steps * fp32.underflow()) : 0;
}

/// sqrt(sum omega (e_a + e_b)^2 / n): how far the errors of all parts' means move the root of the variance.
double root_moved(const Growth& g, const Sample& x, double sigma) {
  const Arithmetic fp32 = single();
  const double per_step = fp32.u() * x.largest + fp32.underflow();
  const double from_means = per_step * std::min(0.4331 * x.n, g.merges * std::sqrt(2 * g.logarithm));
  return g.chained * (from_means + 3.2 * g.weighted * g.logarithm * sigma);
}

}  // namespace

MeanAndVariance welford(double height, const Sample& x) {
  const Arithmetic fp32 = single();
  const Growth g = growth_of(height, x.n);
  if (!x.finite()) return {{x.mean, x.moved_mean < infinite ? 0 : infinite}, {NAN, x.moved < infinite ? 0 : infinite}};
  const double passed_on = x.passed_on(), sigma = std::sqrt(x.variance) + x.moved;
  const double moved = root_moved(g, x, sigma), grown = sigma + moved;
  const double updates = std::sqrt(2) * (fp32.u() * x.largest + fp32.underflow()) * grown;
  const double additions = std::min(2 * height, x.n - 1);
  const double e = passed_on + (2 * sigma + moved) * moved + updates +
                   gam(additions + 9, fp32.u()) * (grown * grown + updates) + 8 * fp32.underflow();
  const double e_mean = x.moved_mean + mean_rounding(g, x, sigma);
  const bool finite = 4 * x.n * (x.variance + e) < fp32.threshold();
  return {{x.mean, finite ? e_mean * inflation : infinite}, {x.variance, finite ? e * inflation : infinite}};
}

}  // namespace tally::oracle

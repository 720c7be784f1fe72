#include "oracle/tolerance/moments.hpp"

#include <stdexcept>

#include "oracle/tolerance/constants.hpp"

namespace tally::oracle {
namespace {

double addition_height(const KernelClaim& claim, double n) {
  return claim.height > 0 ? std::min(static_cast<double>(claim.height), n - 1) : n - 1;
}

/// sum (x - m^)^2 = sum (x - m)^2 + n (m^ - m)^2, so the rounded mean costs its error squared; every term then carries
/// the same h + 5 roundings: two of d, one of d d, h additions, 1/n and the product. Inputs within e_x move the root
/// of the variance by at most r, the root mean square of e_x.
Bounded variance(const std::vector<Bounded>& x, double mean, double mean_rounding, double h) {
  const auto n = static_cast<double>(x.size());
  double squares = 0, moved = 0;
  for (const Bounded& item : x) {
    squares += (item.v - mean) * (item.v - mean);
    moved += item.e * item.e;
  }
  if (!std::isfinite(squares)) return {NAN, moved < infinite ? 0 : infinite};
  const double var = squares / n, r = std::sqrt(moved / n);
  const double passed_on = 2 * std::sqrt(var) * r + r * r;
  const double shift = mean_rounding * mean_rounding;
  const Arithmetic fp32 = single();
  const double e = passed_on + shift + gam(h + 5, fp32.u()) * (var + passed_on + shift) + 4 * fp32.underflow();
  return {var, n * (var + e) < fp32.threshold() ? e * inflation : infinite};
}

}  // namespace

Bounded rstd_of(Bounded var, Bounded eps) {
  const Arithmetic fp32 = single();
  return shared(fp32.div({1, 0}, fp32.sqrt(fp32.add(var, eps))));
}

Moments two_pass_moments(const Declared& subject, const KernelClaim& claim, const std::vector<Bounded>& x,
                         Bounded eps) {
  if (!claim.algorithm.empty() && claim.algorithm != "two_pass") {
    throw std::logic_error("statistics by '" + claim.algorithm + "' have no bound; expected two_pass");
  }
  const auto n = static_cast<double>(x.size());
  const Arithmetic fp32 = single();
  Addends given, read;  // `read`: the subject's own inputs, for the rounding alone
  for (const Bounded& item : x) {
    given.add(item);
    read.add({item.v, 0});
    read.magnitude += item.e;
  }
  const double h = addition_height(claim, n);
  const Bounded inverse = reciprocal(subject, n);
  Moments result;
  result.mean = shared(fp32.mul(fp32.sum(given, h), inverse));
  const Bounded rounding = fp32.mul(fp32.sum(read, h), inverse);
  const double rounding_of_moved = given.e * (inverse.e + 2 * fp32.u() * inverse.v);
  result.var = variance(x, given.v / n, rounding.e + rounding_of_moved, h);
  result.rstd = rstd_of(result.var, eps);
  return result;
}

}  // namespace tally::oracle

#include "oracle/tolerance/moments.hpp"

#include <stdexcept>

#include "oracle/tolerance/variance.hpp"

namespace tally::oracle {
namespace {

bool any_algorithm(const KernelClaim& claim) { return claim.algorithm.empty() || claim.algorithm == "any"; }

}  // namespace

/// By the claimed algorithm, or with the larger bound of all where none is.
MeanAndVariance sample_statistics(const Declared& declared, const KernelClaim& claim, const Sample& x) {
  const double h = height_of(claim, x.n);
  if (claim.algorithm == "two_pass") return two_pass(declared, h, x);
  if (claim.algorithm == "one_pass") return one_pass(declared, h, x);
  if (claim.algorithm == "welford") return welford(h, x);
  if (!any_algorithm(claim)) {
    throw std::logic_error("statistics by '" + claim.algorithm +
                           "' have no bound; expected two_pass, one_pass, welford or any");
  }
  const auto first = two_pass(declared, h, x), second = one_pass(declared, h, x), third = welford(h, x);
  return {wider(wider(first.mean, second.mean), third.mean),
          wider(wider(first.variance, second.variance), third.variance)};
}

Bounded rstd_of(Bounded var, Bounded eps, bool by_function) {
  const Arithmetic fp32 = single();
  const Bounded w = fp32.add(var, eps), quotient = fp32.div({1, 0}, fp32.sqrt(w));
  const double least = std::max(w.v - w.e, eps.v - eps.e);  // no claimed variance is negative
  if (!std::isfinite(w.v) || !decided(w) || !(least > 0)) return shared(quotient);
  const double v = 1 / std::sqrt(w.v);
  const double spread =
      std::max(1 / std::sqrt(least) - v, v - 1 / std::sqrt(w.v + w.e)) + sources().accumulation * v * 0x1p-51;
  const double roundings = by_function ? fp32.relative_error_of(documented(2)) : gam(2, fp32.u());
  const Bounded cut{v, (spread + roundings * (v + spread)) * inflation};
  return shared(by_function || !(quotient.e <= cut.e) ? cut : quotient);
}

Moments sample_moments(const Declared& declared, const KernelClaim& claim, const std::vector<Bounded>& x, Bounded eps) {
  const MeanAndVariance found = sample_statistics(declared, claim, sample_of(x));
  return {shared(found.mean), shared(found.variance),
          rstd_of(found.variance, eps, claim.rsqrt || any_algorithm(claim))};
}

}  // namespace tally::oracle

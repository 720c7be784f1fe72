// (global_norm.1) as one sum and one quotient, (global_norm.2) as one product.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle::global_norm_bound {
namespace {

Expected clipped(const Choice&, const Expected& coefficient, const Expected& gradient) {
  return scaled(gradient, coefficient);
}

Matrix<float> rounded(const Choice&, float coefficient, const FloatsRef& gradient) {
  return rounded_product(gradient, coefficient);
}

Expected coefficient(const Choice& clip, const Expected& norm) {
  const Arithmetic fp32 = single();
  const Bounded n = bounded_scalar(norm);
  const Bounded most = constant(clip.number("max_norm")), epsilon = constant(clip.number("epsilon"));
  if (std::isnan(n.v)) return scalar(NAN, n.e);
  if (std::isinf(n.v) && decided(n)) return scalar(0, decided(most) ? 0 : infinite);  // infinity over infinity
  if (!decided(n) || !decided(most) || !decided(fp32.add(n, epsilon))) {
    return scalar(clip_coefficient<long double>(clip, norm.v(0, 0)), infinite);
  }
  // Where the norm may be 0 the quotient has no bound, but the coefficient falls with the norm and lies in [least, 1].
  const double least = most.v / (n.v + n.e + epsilon.v) * (1 - gam(8, fp32.u()));
  if (least >= 1 || (n.v + epsilon.v == 0 && n.e == 0)) return scalar(1);
  const Bounded ratio = fp32.div(most, fp32.add(n, epsilon));
  const auto exact = clip_coefficient<long double>(clip, norm.v(0, 0));
  return scalar(exact, std::min(ratio.e, 1 - least));
}

Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm) {
  if (!as_written(declared, "clip_coefficient")) return {};
  const float divisor = norm + held(clip.number("epsilon"));
  const float ratio = held(clip.number("max_norm")) / divisor;
  return Matrix<float>::Constant(1, 1, divisor == 0 || ratio > 1 ? 1 : ratio);
}

const RegisterClipRules registered("global_norm", {clipped, rounded, coefficient, predicted_coefficient});

}  // namespace
}  // namespace tally::oracle::global_norm_bound

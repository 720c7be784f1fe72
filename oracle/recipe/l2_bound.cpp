// (l2.1): one product and one sum.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle::l2_bound {
namespace {

Expected gradient_with_decay(const Declared&, const Choice& decay, const StepRate& rate, const Expected& gradient,
                             const Expected& parameter) {
  const Arithmetic fp32 = single();
  const Bounded lambda = constant(decay.number("lambda"));
  return joined([&] { return decayed<long double>(decay, rate.exact, gradient.v, parameter.v); },
                each([&](Bounded g, Bounded p) { return fp32.add(g, fp32.mul(lambda, p)); }, gradient, parameter));
}

Prediction predicted(const Declared& declared, const Choice& decay, const Choice&, std::int64_t,
                     const Matrix<float>& gradient, const Matrix<float>& parameter) {
  if (!as_written(declared, "decay.l2")) return {};
  const float lambda = held(decay.number("lambda"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float decayed = lambda * parameter.data()[i];
    return gradient.data()[i] + decayed;
  });
}

const RegisterDecayRules registered("l2", {gradient_with_decay, predicted});

}  // namespace
}  // namespace tally::oracle::l2_bound

// p stands for every parameter that decays, g for its gradient.
// (l2.1)  g <- g + lambda p
// (l2.1): one product and one sum.
#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::l2_kind {
namespace {

template <class T>
Matrix<T> gradient_with_decay(const Choice& weight_decay, const T&, const Matrix<T>& gradient,
                              const Matrix<T>& parameter) {
  return gradient + number<T>(weight_decay.number("lambda")) * parameter;
}

const Contract contract{
    .kind = "l2",
    .options = {{.name = "lambda", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "exclude",
                 .type = OptionType::text_list,
                 .standard = std::vector<std::string>{},
                 .words = {"bias", "norm", "embedding"},
                 .parameters = true}},
    .decays_gradient = true,
    .definition = "g <- g + lambda p, after clipping"};

Expected gradient_with_decay(const Declared& declared, const Choice& decay, const StepRate& rate,
                             const Expected& gradient, const Expected& parameter) {
  const Arithmetic fp32 = single(declared);
  const Bounded lambda = constant(decay.number("lambda"));
  return joined(
      declared, [&] { return decayed<long double>(decay, rate.exact, gradient.v, parameter.v); },
      each(
          declared, [&](Bounded g, Bounded p) { return fp32.add(g, fp32.mul(lambda, p)); }, gradient, parameter));
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

const Register<DecayDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactDecay<T> { return gradient_with_decay<T>; },
                                            {gradient_with_decay, predicted}}};

}  // namespace
}  // namespace tally::oracle::l2_kind

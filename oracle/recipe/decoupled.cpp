// p stands for every parameter that decays, before the optimizer's step.
// (decoupled.1)  p <- p (1 - rate lambda)
// (decoupled.1): one constant, 1 - rate lambda, and one product, stored.
#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::decoupled_kind {
namespace {

template <class T>
Matrix<T> shrunk(const Choice& weight_decay, const T& rate, const Matrix<T>&, const Matrix<T>& parameter) {
  return parameter * T(1 - rate * number<T>(weight_decay.number("lambda")));
}

const Contract contract{
    .kind = "decoupled",
    .options = {{.name = "lambda", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "exclude",
                 .type = OptionType::text_list,
                 .standard = std::vector<std::string>{},
                 .words = {"bias", "norm", "embedding"},
                 .parameters = true}},
    .definition = "p <- p (1 - rate lambda), before the update"};

Expected shrunk(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                const Expected& parameter) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const auto lambda = number<long double>(decay.number("lambda"));
  const Bounded product = fp32.mul(held_rate(declared, rate), constant(decay.number("lambda")));
  const long double exact = 1 - rate.exact * lambda, margin = (1 + rate.exact * lambda) * 0x1p-51L;
  const Bounded kept = derived_constant(declared, exact, fp32.sub({1, 0}, product), margin + rate.margin * lambda);
  return joined(
      declared, [&] { return decayed<long double>(decay, rate.exact, gradient.v, parameter.v); },
      each(
          declared, [&](Bounded p) { return master.store(fp32.mul(p, kept)); }, parameter));
}

Prediction predicted(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                     const Matrix<float>&, const Matrix<float>& parameter) {
  const auto rate = learning_rate<long double>(schedule, step), lambda = number<long double>(decay.number("lambda"));
  const long double margin =
      (1 + std::fabs(rate * lambda)) * 0x1p-51L + std::fabs(lambda) * margin_of_rate(schedule, rate, step);
  const HeldConstant kept = held(declared, 1 - rate * lambda, margin);
  if (!as_written(declared, "decay.decoupled") || !kept) return {};
  return of_each(parameter.rows(), parameter.cols(),
                 [&](Eigen::Index i) { return stored(declared.master, parameter.data()[i] * *kept); });
}

const Register<DecayDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactDecay<T> { return shrunk<T>; }, {shrunk, predicted}}};

}  // namespace
}  // namespace tally::oracle::decoupled_kind

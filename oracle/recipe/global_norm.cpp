// The norm is that of (clip.1), g every element of every gradient.
// (global_norm.1)  coefficient = min(1, max_norm / (norm + epsilon)), or 1 where norm + epsilon = 0
// (global_norm.2)  g <- g coefficient
// (global_norm.1) as one sum and one quotient, (global_norm.2) as one product.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::global_norm_kind {
namespace {

template <class T>
T coefficient(const Choice& clip, const T& norm, std::int64_t) {
  const T divisor = norm + number<T>(clip.number("epsilon"));
  if (divisor == 0) return T(1);
  return smaller(T(number<T>(clip.number("max_norm")) / divisor), T(1));
}

template <class T>
Matrix<T> scaled_down(const Choice&, const T& coefficient, const Matrix<T>& gradient) {
  return gradient * coefficient;
}

const Contract contract{
    .kind = "global_norm",
    .options =
        {{.name = "max_norm", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}},
         {.name = "norm", .type = OptionType::text, .standard = std::string("2"), .words = {"1", "2", "inf"}},
         {.name = "epsilon", .type = OptionType::number, .standard = Decimal{"1e-6"}, .range = {.at_least = "0"}}},
    .reads_norm = true,
    .definition = "g <- g min(1, max_norm / (norm of all gradients + epsilon))"};

Expected clipped(const Declared& declared, const Choice&, const Expected& coefficient, const Expected& gradient) {
  return scaled(declared, gradient, coefficient);
}

Matrix<float> rounded(const Choice&, float coefficient, const FloatsRef& gradient) {
  return rounded_product(gradient, coefficient);
}

Expected coefficient(const Declared& declared, const Choice& clip, const Expected& norm, std::int64_t step) {
  const Arithmetic fp32 = single(declared);
  const Bounded n = bounded_scalar(declared, norm);
  const Bounded most = constant(clip.number("max_norm")), epsilon = constant(clip.number("epsilon"));
  if (std::isnan(n.v)) return scalar(NAN, n.e);
  if (std::isinf(n.v) && decided(n)) return scalar(0, decided(most) ? 0 : infinite);  // infinity over infinity
  if (!decided(n) || !decided(most) || !decided(fp32.add(n, epsilon))) {
    return scalar(clip_coefficient<long double>(clip, norm.v(0, 0), step), infinite);
  }
  // Where the norm may be 0 the quotient has no bound, but the coefficient falls with the norm and lies in [least, 1].
  const double least = most.v / (n.v + n.e + epsilon.v) * (1 - gam(8, fp32.u()));
  if (least >= 1 || (n.v + epsilon.v == 0 && n.e == 0)) return scalar(1);
  const Bounded ratio = fp32.div(most, fp32.add(n, epsilon));
  const auto exact = clip_coefficient<long double>(clip, norm.v(0, 0), step);
  return scalar(exact, std::min(ratio.e, 1 - least));
}

Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm, std::int64_t) {
  if (!as_written(declared, "clip_coefficient")) return {};
  const float divisor = norm + held(clip.number("epsilon"));
  const float ratio = held(clip.number("max_norm")) / divisor;
  return Matrix<float>::Constant(1, 1, divisor == 0 || ratio > 1 ? 1 : ratio);
}

const Register<ClipDefinition> registered{{contract,
                                           []<class T>(Scalar<T>) -> ExactClip<T> {
                                             return {scaled_down<T>, coefficient<T>};
                                           },
                                           {clipped, rounded, coefficient, predicted_coefficient}}};

}  // namespace
}  // namespace tally::oracle::global_norm_kind

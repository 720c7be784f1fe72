// Sharpness-aware minimisation takes two windows of the same rows for one step: the first moves the weights uphill, the
// second goes back and down along the gradient found there. g is a gradient, p a parameter, norm that of (clip.1), lr
// the rate, t the steps taken before this one, one a window.
// (sam.1)  coefficient = rho / (norm + epsilon), or 1 where norm + epsilon = 0; t even
// (sam.2)  coefficient = 1; t odd
// (sam.3)  g <- g coefficient
// (sam.4)  k <- p,  p <- p + g; t even
// (sam.5)  p <- k - lr g; t odd
// Foret, Kleiner, Mobahi and Neyshabur 2021, "Sharpness-aware minimization for efficiently improving generalization",
// (2), with the epsilon that implementations add; SGD without momentum below it.
// (sam.1) as one sum and one quotient, (sam.3) as one product, (sam.4) and (sam.5) as (sgd.3). Copies are exact.
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::sam_kind {
namespace {

bool goes_up(std::int64_t step) { return step % 2 == 0; }

template <class T>
T coefficient(const Choice& clip, const T& norm, std::int64_t step) {
  const T divisor = norm + number<T>(clip.number("epsilon"));
  if (!goes_up(step) || divisor == 0) return T(1);
  return number<T>(clip.number("rho")) / divisor;
}

template <class T>
Matrix<T> scaled_to_length(const Choice&, const T& coefficient, const Matrix<T>& gradient) {
  return gradient * coefficient;
}

const Contract ascent_contract{
    .kind = "sam_ascent",
    .options = {{.name = "rho", .type = OptionType::number, .standard = Decimal{"0.05"}, .range = {.at_least = "0"}},
                {.name = "norm", .type = OptionType::text, .standard = std::string("2"), .words = {"2"}},
                {.name = "epsilon", .type = OptionType::number, .standard = Decimal{"1e-12"}, .range = {.above = "0"}}},
    .drawn = false,
    .reads_norm = true,
    .passes = 2,
    .definition = "g <- g rho / (norm of all gradients + epsilon) in the first window of two"};

Expected clipped(const Declared& declared, const Choice&, const Expected& coefficient, const Expected& gradient) {
  return scaled(declared, gradient, coefficient);
}

Matrix<float> rounded(const Choice&, float coefficient, const FloatsRef& gradient) {
  return rounded_product(gradient, coefficient);
}

/// A norm that may be 0 leaves the quotient open.
Expected bounded_coefficient(const Declared& declared, const Choice& clip, const Expected& norm, std::int64_t step) {
  if (!goes_up(step)) return scalar(1);
  const Arithmetic fp32 = single(declared);
  const Bounded n = bounded_scalar(declared, norm), rho = constant(clip.number("rho"));
  if (std::isnan(n.v)) return scalar(NAN, n.e);
  if (std::isinf(n.v) && decided(n)) return scalar(0, decided(rho) ? 0 : infinite);
  const Bounded quotient = fp32.div(rho, fp32.add(n, constant(clip.number("epsilon"))));
  return scalar(coefficient<long double>(clip, norm.v(0, 0), step), quotient.e);
}

Prediction predicted(const Declared& declared, const Choice& clip, float norm, std::int64_t step) {
  if (!as_written(declared, "sam_coefficient")) return {};
  const float divisor = norm + held(clip.number("epsilon"));
  const float ratio = held(clip.number("rho")) / divisor;
  return Matrix<float>::Constant(1, 1, goes_up(step) && divisor != 0 ? ratio : 1);
}

const Register<ClipDefinition> registered_ascent{{ascent_contract,
                                                  []<class T>(Scalar<T>) -> ExactClip<T> {
                                                    return {scaled_to_length<T>, coefficient<T>};
                                                  },
                                                  {clipped, rounded, bounded_coefficient, predicted}}};

template <class T>
Slot<T> sam(const Choice&, const T& rate, std::int64_t step, const Matrix<T>& gradient, Slot<T> slot) {
  if (goes_up(step)) {
    slot.state[0] = slot.parameter;
    slot.parameter += gradient;
  } else {
    slot.parameter = slot.state[0] - rate * gradient;
  }
  return slot;
}

const Contract contract{.kind = "sam",
                        .options = {},
                        .drawn = false,
                        .state = {{.name = "kept", .word = "kept weights", .begins_with_gradient = true}},
                        .counts_steps = true,
                        .passes = 2,
                        .definition = "k <- p, p <- p + g in the first window of two; p <- k - rate g in the second"};

class Sam final : public OptimizerRules {
 public:
  Expected state(std::size_t, const StepSetting& at, const StepTensors<Expected>& t) const override {
    return goes_up(at.step) ? t.parameter : t.before[0];
  }
  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    const Arithmetic fp32 = single(at.declared), master(at.declared, at.declared.master);
    if (goes_up(at.step)) {
      const auto up = [&](Bounded p, Bounded g) { return master.store(fp32.add(p, g)); };
      return joined(
          at.declared, [&] { return t.parameter.v + t.gradient.v; }, each(at.declared, up, t.parameter, t.gradient));
    }
    const Bounded lr = bounded_scalar(at.declared, rate);
    const auto down = [&](Bounded k, Bounded g) { return master.store(fp32.sub(k, fp32.mul(lr, g))); };
    return joined(
        at.declared, [&] { return t.before[0].v - rate.v(0, 0) * t.gradient.v; },
        each(at.declared, down, t.before[0], t.gradient));
  }
  Prediction predicted_state(std::size_t, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    return goes_up(at.step) ? t.parameter : t.before[0];
  }
  Prediction predicted_parameter(const StepSetting& at, float rate,
                                 const StepTensors<Matrix<float>>& t) const override {
    if (!as_written(at.declared, "sam")) return {};
    return of_each(t.parameter.rows(), t.parameter.cols(), [&](Eigen::Index i) {
      const float g = t.gradient.data()[i];
      if (goes_up(at.step)) return stored(at.declared.master, t.parameter.data()[i] + g);
      const float move = rate * g;
      return stored(at.declared.master, t.before[0].data()[i] - move);
    });
  }
  bool is_linear() const override { return true; }
  bool state_reads_parameter(std::size_t) const override { return true; }
  bool moves_by_old_state() const override { return true; }
};

const Sam rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return sam<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::sam_kind

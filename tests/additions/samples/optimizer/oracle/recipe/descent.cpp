// Element by element: g is the gradient, p the parameter.
// (descent.1)  p <- p - rate g
#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::descent_kind {
namespace {

template <class T>
Slot<T> descent(const Choice&, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  slot.parameter -= rate * gradient;
  return slot;
}

const Contract contract{.kind = "descent", .options = {}, .definition = "p <- p - rate g"};

class Descent final : public OptimizerRules {
 public:
  Expected state(std::size_t, const StepSetting&, const StepTensors<Expected>&) const override { return {}; }
  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    const Arithmetic fp32 = single(at.declared), master(at.declared, at.declared.master);
    const Bounded lr = bounded_scalar(at.declared, rate);
    const auto moved = [&](Bounded p, Bounded g) { return master.store(fp32.sub(p, fp32.mul(lr, g))); };
    return joined(
        at.declared, [&]() -> Matrix<long double> { return t.parameter.v - rate.v(0, 0) * t.gradient.v; },
        each(at.declared, moved, t.parameter, t.gradient));
  }
  Prediction predicted_state(std::size_t, const StepSetting&, const StepTensors<Matrix<float>>&) const override {
    return {};
  }
  Prediction predicted_parameter(const StepSetting& at, float rate,
                                 const StepTensors<Matrix<float>>& t) const override {
    if (!as_written(at.declared, "descent")) return {};
    return of_each(t.parameter.rows(), t.parameter.cols(), [&](Eigen::Index i) {
      const float move = rate * t.gradient.data()[i];
      return stored(at.declared.master, t.parameter.data()[i] - move);
    });
  }
  bool is_linear() const override { return true; }
};

const Descent rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return descent<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::descent_kind

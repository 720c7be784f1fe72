#include "oracle/recipe/optimizer_rules.hpp"
#include "oracle/recipe/sgd_bound.hpp"

namespace tally::oracle::sgd_rules {
namespace {

/// The momentum, empty without.
template <class M>
M momentum_in(const std::vector<M>& state) {
  return state.empty() ? M{} : state[0];
}

class Sgd final : public OptimizerRules {
 public:
  Expected state(std::size_t i, const StepSetting& at, const StepTensors<Expected>& t) const override {
    return sgd_momentum(at.declared, at.optimizer, t.gradient, t.before[i]);
  }
  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    return sgd_parameter(at.declared, at.optimizer, rate, t.gradient, momentum_in(t.after), t.parameter);
  }
  Prediction predicted_state(std::size_t i, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    return predicted_sgd_momentum(at.declared, at.optimizer, t.gradient, t.before[i]);
  }
  Prediction predicted_parameter(const StepSetting& at, float rate,
                                 const StepTensors<Matrix<float>>& t) const override {
    return predicted_sgd_parameter(at.declared, at.optimizer, rate, t.gradient, momentum_in(t.after), t.parameter);
  }
  bool is_linear() const override { return true; }
};

const Sgd sgd;
const RegisterOptimizerRules registered("sgd", &sgd);

}  // namespace
}  // namespace tally::oracle::sgd_rules

#include "oracle/recipe/lion_bound.hpp"
#include "oracle/recipe/optimizer_rules.hpp"

namespace tally::oracle::lion_rules {
namespace {

class Lion final : public OptimizerRules {
 public:
  Expected state(std::size_t, const StepSetting& at, const StepTensors<Expected>& t) const override {
    return lion_momentum(at.declared, at.optimizer, t.gradient, t.before[0]);
  }
  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    return lion_parameter(at.declared, at.optimizer, rate, t.gradient, t.before[0], t.parameter);
  }
  Prediction predicted_state(std::size_t, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    return predicted_lion_momentum(at.declared, at.optimizer, t.gradient, t.before[0]);
  }
  Prediction predicted_parameter(const StepSetting& at, float rate,
                                 const StepTensors<Matrix<float>>& t) const override {
    return predicted_lion_parameter(at.declared, at.optimizer, rate, t.gradient, t.before[0], t.parameter);
  }
  bool is_linear() const override { return false; }
  bool moves_by_old_state() const override { return true; }
};

const Lion lion;
const RegisterOptimizerRules registered("lion", &lion);

}  // namespace
}  // namespace tally::oracle::lion_rules

#include "oracle/recipe/adam_bound.hpp"
#include "oracle/recipe/optimizer_rules.hpp"

namespace tally::oracle::adam_rules {
namespace {

class Adam final : public OptimizerRules {
 public:
  Expected state(std::size_t i, const StepSetting& at, const StepTensors<Expected>& t) const override {
    return (i == 0 ? adam_exp_avg : adam_exp_avg_sq)(at.declared, at.optimizer, t.gradient, t.before[i]);
  }
  Expected parameter(const StepSetting& at, const Expected&, const StepTensors<Expected>& t,
                     bool from_zero) const override {
    return adam_parameter(at.declared, at.optimizer, step_rate(at.schedule, at.step), at.step, t.after[0], t.after[1],
                          t.parameter, from_zero);
  }
  Prediction predicted_state(std::size_t i, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    return (i == 0 ? predicted_exp_avg : predicted_exp_avg_sq)(at.declared, at.optimizer, t.gradient, t.before[i]);
  }
  Prediction predicted_parameter(const StepSetting& at, float, const StepTensors<Matrix<float>>& t) const override {
    return predicted_adam_parameter(at.declared, at.optimizer, at.schedule, at.step, t.after[0], t.after[1],
                                    t.parameter);
  }
  bool is_linear() const override { return false; }
};

const Adam adam;
const RegisterOptimizerRules registered("adam", &adam);

}  // namespace
}  // namespace tally::oracle::adam_rules

#include "oracle/recipe/optimizer_rules.hpp"
#include "oracle/recipe/rmsprop_bound.hpp"

namespace tally::oracle::rmsprop_rules {
namespace {

/// The momentum buffer, empty without.
template <class M>
M buffer_in(const std::vector<M>& state) {
  return state.size() < 2 ? M{} : state[1];
}

class Rmsprop final : public OptimizerRules {
 public:
  Expected state(std::size_t i, const StepSetting& at, const StepTensors<Expected>& t) const override {
    if (i == 0) return rmsprop_square(at.declared, at.optimizer, t.gradient, t.before[0]);
    return rmsprop_buffer(at.declared, at.optimizer, t.gradient, t.after[0], t.before[1]);
  }
  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    return rmsprop_parameter(at.declared, at.optimizer, rate, t.gradient, t.after[0], buffer_in(t.after), t.parameter);
  }
  Prediction predicted_state(std::size_t i, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    if (i == 0) return predicted_square(at.declared, at.optimizer, t.gradient, t.before[0]);
    return predicted_buffer(at.declared, at.optimizer, t.gradient, t.after[0], t.before[1]);
  }
  Prediction predicted_parameter(const StepSetting& at, float rate,
                                 const StepTensors<Matrix<float>>& t) const override {
    return predicted_rmsprop_parameter(at.declared, at.optimizer, rate, t.gradient, t.after[0], buffer_in(t.after),
                                       t.parameter);
  }
  bool is_linear() const override { return false; }
  bool reads_state_in_front(std::size_t i) const override { return i == 1; }
};

const Rmsprop rmsprop;
const RegisterOptimizerRules registered("rmsprop", &rmsprop);

}  // namespace
}  // namespace tally::oracle::rmsprop_rules

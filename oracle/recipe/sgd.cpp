// Element by element: g is the gradient, b the momentum buffer, p the parameter.
// (sgd.1)  b <- momentum b + (1 - dampening) g, or g where there is no b yet
// (sgd.2)  d = b, or g + momentum b with nesterov, or g without momentum
// (sgd.3)  p <- p - rate d
// SGD, bit by bit: (sgd.1), (sgd.2) and (sgd.3), one operation a line as kernels/arithmetic.md writes them.
#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {

Expected sgd_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                      const Expected& old) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  if (old.v.size() == 0)
    return joined(declared, gradient.v,
                  each(
                      declared, [&](Bounded g) { return master.store(g); }, gradient));
  const Bounded mu = constant(optimizer.number("momentum")), kept = one_minus(declared, optimizer.number("dampening"));
  const Slot<long double> before{Matrix<long double>::Zero(old.v.rows(), old.v.cols()), {old.v}};
  return joined(
      declared, [&] { return updated<long double>(optimizer, 0, 0, gradient.v, before).state[0]; },
      each(
          declared, [&](Bounded g, Bounded b) { return master.store(fp32.add(fp32.mul(mu, b), fp32.mul(kept, g))); },
          gradient, old));
}

Expected sgd_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                       const Expected& gradient, const Expected& momentum, const Expected& parameter) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Bounded lr = bounded_scalar(declared, rate);
  const auto moved = [&](Bounded p, Bounded d) { return master.store(fp32.sub(p, fp32.mul(lr, d))); };
  const Expected& direction = momentum.v.size() == 0 ? gradient : momentum;
  if (momentum.v.size() == 0 || !optimizer.flag("nesterov")) {
    return joined(
        declared, [&] { return parameter.v - rate.v(0, 0) * direction.v; },
        each(declared, moved, parameter, direction));
  }
  const Bounded mu = constant(optimizer.number("momentum"));
  const auto exact_mu = number<long double>(optimizer.number("momentum"));
  return joined(
      declared, [&] { return parameter.v - rate.v(0, 0) * (gradient.v + exact_mu * momentum.v); },
      each(
          declared, [&](Bounded p, Bounded g, Bounded b) { return moved(p, fp32.add(g, fp32.mul(mu, b))); }, parameter,
          gradient, momentum));
}

Prediction predicted_sgd_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                  const Matrix<float>& old) {
  if (!as_written(declared, "sgd")) return {};
  const auto first = [&](Eigen::Index i) { return stored(declared.master, gradient.data()[i]); };
  if (old.size() == 0) return of_each(gradient.rows(), gradient.cols(), first);
  const HeldConstant rest = held_one_minus(declared, optimizer.number("dampening"));
  if (!rest) return {};
  const float mu = held(optimizer.number("momentum"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = mu * old.data()[i];
    const float taken = *rest * gradient.data()[i];
    return stored(declared.master, kept + taken);
  });
}

Prediction predicted_sgd_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                   const Matrix<float>& gradient, const Matrix<float>& momentum,
                                   const Matrix<float>& parameter) {
  if (!as_written(declared, "sgd")) return {};
  const float mu = held(optimizer.number("momentum"));
  const bool nesterov = momentum.size() != 0 && optimizer.flag("nesterov");
  const Matrix<float>& straight = momentum.size() != 0 ? momentum : gradient;
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    float direction = straight.data()[i];
    if (nesterov) {
      const float ahead = mu * direction;
      direction = gradient.data()[i] + ahead;
    }
    const float move = rate * direction;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle

namespace tally::oracle::sgd_kind {
namespace {

template <class T>
Slot<T> sgd(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T momentum = number<T>(optimizer.number("momentum"));
  if (slot.state.empty()) {
    slot.parameter -= rate * gradient;
    return slot;
  }
  Matrix<T>& buffer = slot.state[0];
  if (buffer.size() == 0)
    buffer = gradient;
  else
    buffer = (momentum * buffer + T(1 - number<T>(optimizer.number("dampening"))) * gradient).eval();
  if (optimizer.flag("nesterov"))
    slot.parameter -= rate * (gradient + momentum * buffer);
  else
    slot.parameter -= rate * buffer;
  return slot;
}

bool is_zero(const Choice& sgd, const char* option) { return compare_decimals(sgd.number(option).text, "0") == 0; }

std::vector<Misfit> misfits(const Choice& sgd) {
  std::vector<Misfit> found;
  if (!sgd.flag("nesterov")) return found;
  if (is_zero(sgd, "momentum")) found.push_back({"nesterov", "true without momentum", "false, or a momentum > 0"});
  if (!is_zero(sgd, "dampening")) found.push_back({"nesterov", "true with dampening", "false, or a dampening of 0"});
  return found;
}

const Contract contract{.kind = "sgd",
                        .options = {{.name = "momentum",
                                     .type = OptionType::number,
                                     .standard = Decimal{"0"},
                                     .range = {.at_least = "0", .below = "1"}},
                                    {.name = "dampening",
                                     .type = OptionType::number,
                                     .standard = Decimal{"0"},
                                     .range = {.at_least = "0", .below = "1"}},
                                    {.name = "nesterov", .type = OptionType::boolean, .standard = false}},
                        .state = {{.name = "momentum",
                                   .word = "momentum",
                                   .begins_with_gradient = true,
                                   .present = [](const Choice& sgd) { return !is_zero(sgd, "momentum"); }}},
                        .misfits = misfits,
                        .definition = "b <- momentum b + (1 - dampening) g, the first b being g; p <- p - rate b"};

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

const Sgd rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return sgd<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::sgd_kind

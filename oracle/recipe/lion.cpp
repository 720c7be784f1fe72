// Element by element: g is the gradient, m the momentum, p the parameter, which moves first, by the old m.
// (lion.1)  p <- p - rate sign(beta1 m + (1 - beta1) g)
// (lion.2)  m <- beta2 m + (1 - beta2) g
// Chen et al. 2023, "Symbolic discovery of optimization algorithms". sign(0) = 0, and the sign of NaN is NaN.
// Lion: (lion.1), which is fl(p - lr), p or fl(p + lr) by the sign, and (lion.2), by the operations of
// kernels/arithmetic.md.
// Lion, bit by bit: (lion.1) and (lion.2), one operation a line as kernels/arithmetic.md writes them.
#include <string>

#include "oracle/case/contract.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

/// What (lion.1) takes the sign of, with beta2 for beta what (lion.2) leaves: fl(fl(beta m) + fl((1 - beta) g)).
class Interpolation {
 public:
  Interpolation(const Declared& declared, const Decimal& beta)
      : fp32_(single(declared)), kept_(constant(beta)), taken_(one_minus(declared, beta)) {}
  Bounded of(Bounded g, Bounded m) const { return fp32_.add(fp32_.mul(kept_, m), fp32_.mul(taken_, g)); }

 private:
  const Arithmetic fp32_;
  Bounded kept_, taken_;
};

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// The sign of a number that is known within a bound. The exact sign is that of v; an error of 2 covers every other,
/// and where v itself may have been rounded to 0 the exact sign is open too.
Bounded sign_of(Bounded c) {
  if (!std::isfinite(c.v)) return {std::isnan(c.v) ? c.v : sign_of(c.v), decided(c) ? 0 : infinite};
  if (!decided(c)) return {sign_of(c.v), infinite};  // the subject may hold NaN
  return {sign_of(c.v), std::fabs(c.v) > c.e ? 0.0 : c.v == 0 && c.e == 0 ? 0.0 : 2.0};
}

}  // namespace

Expected lion_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                       const Expected& old) {
  const Arithmetic master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Interpolation next(declared, optimizer.number("beta2"));
  const auto beta = number<long double>(optimizer.number("beta2"));
  return joined(
      declared, [&]() -> Matrix<long double> { return beta * before.v + (1 - beta) * gradient.v; },
      each(
          declared, [&](Bounded g, Bounded m) { return master.store(next.of(g, m)); }, gradient, before));
}

Expected lion_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                        const Expected& gradient, const Expected& old, const Expected& parameter) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Interpolation direction(declared, optimizer.number("beta1"));
  const Bounded lr = bounded_scalar(declared, rate);
  const auto beta = number<long double>(optimizer.number("beta1"));
  const auto exact = [&]() -> Matrix<long double> {
    const Matrix<long double> c = beta * before.v + (1 - beta) * gradient.v;
    return parameter.v - rate.v(0, 0) * c.unaryExpr([](long double x) -> long double {
      return x > 0 ? 1 : x < 0 ? -1 : x;
    });
  };
  const auto moved = [&](Bounded p, Bounded g, Bounded m) {
    const Bounded sign = sign_of(direction.of(g, m));
    return master.store(fp32.sub(p, fp32.mul(lr, sign)));
  };
  return joined(declared, exact, each(declared, moved, parameter, gradient, before));
}

}  // namespace tally::oracle

namespace tally::oracle {
namespace {

float between_the_two(float beta, float rest, float gradient, float momentum) {
  const float kept = beta * momentum;
  const float taken = rest * gradient;
  return kept + taken;
}

}  // namespace

Prediction predicted_lion_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                   const Matrix<float>& old) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("beta2"));
  if (!as_written(declared, "lion") || !rest) return {};
  const float beta = held(optimizer.number("beta2"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    return stored(declared.master, between_the_two(beta, *rest, gradient.data()[i], begun_at_zero(old, i)));
  });
}

Prediction predicted_lion_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                    const Matrix<float>& gradient, const Matrix<float>& old,
                                    const Matrix<float>& parameter) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("beta1"));
  if (!as_written(declared, "lion") || !rest) return {};
  const float beta = held(optimizer.number("beta1"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float c = between_the_two(beta, *rest, gradient.data()[i], begun_at_zero(old, i));
    const float sign = c > 0 ? 1.0F : c < 0 ? -1.0F : c;
    const float move = rate * sign;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle

namespace tally::oracle::lion_kind {
namespace {

template <class T>
T sign_of(const T& x) {
  try {
    if (x > 0) return T(1);
    if (x < 0) return T(-1);
  } catch (const Undecided& open) {
    throw Undecided(std::string("a sign that cannot be decided, of what may be exactly 0: ") + open.what());
  }
  return x;  // 0 or NaN
}

template <class T>
Slot<T> lion(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T beta1 = number<T>(optimizer.number("beta1")), beta2 = number<T>(optimizer.number("beta2"));
  Matrix<T>& momentum = slot.state[0];
  const Matrix<T> direction = beta1 * momentum + T(1 - beta1) * gradient;
  slot.parameter -= rate * direction.unaryExpr([](const T& c) -> T { return sign_of(c); });
  momentum = (beta2 * momentum + T(1 - beta2) * gradient).eval();
  return slot;
}

const Contract contract{.kind = "lion",
                        .options = {{.name = "beta1",
                                     .type = OptionType::number,
                                     .standard = Decimal{"0.9"},
                                     .range = {.at_least = "0", .below = "1"}},
                                    {.name = "beta2",
                                     .type = OptionType::number,
                                     .standard = Decimal{"0.99"},
                                     .range = {.at_least = "0", .below = "1"}}},
                        .state = {{.name = "exp_avg", .word = "momentum"}},
                        .definition = "p <- p - rate sign(beta1 m + (1 - beta1) g); m <- beta2 m + (1 - beta2) g"};

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
  bool steps_by_sign() const override { return true; }
  bool moves_by_old_state() const override { return true; }
};

const Lion rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return lion<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::lion_kind

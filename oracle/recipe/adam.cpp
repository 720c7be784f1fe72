// Element by element: g is the gradient, m and v its moments, p the parameter, t the steps taken before this one.
// (adam.1)  m <- beta1 m + (1 - beta1) g
// (adam.2)  v <- beta2 v + (1 - beta2) g²
// (adam.3)  p <- p - rate m^ / (sqrt(v^) + eps),  m^ = m / (1 - beta1^(t+1)),  v^ = v / (1 - beta2^(t+1))
// Adam, bit by bit: (adam.1), (adam.2) and (adam.3), one operation a line as kernels/arithmetic.md writes them.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

/// The exact step's: of the whole update only those are taken.
std::vector<Matrix<long double>> moments(const Choice& optimizer, const Expected& gradient,
                                         const Slot<long double>& old) {
  return updated<long double>(optimizer, 0, 0, gradient.v, old).state;
}

struct Corrections {
  long double first, second;     // 1 - beta^(t+1)
  Bounded rate, root_of_second;  // fl(lr / bc1), fl(sqrt bc2)
};

Corrections corrections(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step) {
  const auto times = static_cast<long double>(step) + 1;
  const Complement first = complement_of_power(optimizer.number("beta1"), times),
                   second = complement_of_power(optimizer.number("beta2"), times);
  Corrections c{first.value, second.value, {}, {}};
  const Arithmetic fp32 = single(declared);
  // In fp32 the power carries t + 1 roundings and beta's own t + 1 times over.
  const auto in_fp32 = [&](long double p) {
    const auto value = static_cast<double>(p);
    return fp32.sub({1, 0}, {value, gam(2.0 * static_cast<double>(step + 1) + 8, fp32.u()) * value});
  };
  const long double corrected = rate.exact / c.first, root = std::sqrt(c.second);
  const long double off = of_inverse(first.relative);
  const long double margin = off < infinite ? std::fabs(corrected) * off + rate.margin / c.first * (1 + off) : infinite;
  c.rate = derived_constant(declared, corrected, fp32.div(held_rate(declared, rate), in_fp32(1 - c.first)), margin);
  c.root_of_second = derived_constant(declared, root, fp32.sqrt(in_fp32(1 - c.second)), root * second.relative);
  return c;
}

/// |m^| / sqrt v^ for moments that began at zero: Cauchy-Schwarz over the gradients so far.
double largest_ratio(const Choice& optimizer, const Corrections& c, std::int64_t step) {
  const auto beta1 = number<long double>(optimizer.number("beta1")),
             beta2 = number<long double>(optimizer.number("beta2"));
  // A beta2 that fp32 does not hold to its last place keeps less of the old squares than is counted here.
  const Bounded held = constant(optimizer.number("beta2"));
  if (beta2 == 0 || held.e > 0x1p-24 * held.v) return infinite;
  const long double q = beta1 * beta1 / beta2;
  long double sum = 0, term = 1;
  for (std::int64_t j = 0; j <= step && j < 100000; ++j, term *= q) sum += term;
  if (step >= 100000) return infinite;
  return static_cast<double>((1 - beta1) / c.first * std::sqrt(c.second / (1 - beta2)) * std::sqrt(sum));
}

bool is_positive(Bounded x) { return x.v - x.e > 0; }

/// How far a constant may be off, relative to itself.
double relative(Bounded c) { return c.v == 0 ? 0 : c.e / std::fabs(c.v); }

/// No step from zero moments is longer, and none lies further from the exact one than two such steps: the subject's own
/// carries 6t + 16 roundings, what its constants are off, and what underflows. Its second moment may have lost 3 eta a
/// step (the square, its share, the decay) and its first 2 eta, so that beside the ratio times sqrt v^ there is the
/// ratio times sqrt(3 t eta / bc2) and 2 t eta / bc1, each over epsilon.
double longest_step(const Declared& declared, const Choice& optimizer, const Corrections& c, const StepRate& rate,
                    std::int64_t step, double least_divisor) {
  const double ratio = largest_ratio(optimizer, c, step), eta = single(declared).underflow();
  if (!(ratio < infinite) || !(least_divisor > 0) || !decided(c.rate) || !is_positive(c.root_of_second))
    return infinite;
  const auto t = static_cast<double>(step + 1);
  const double lost =
      (ratio * std::sqrt(3 * t * eta / static_cast<double>(c.second)) + 2 * t * eta / static_cast<double>(c.first)) /
      least_divisor;
  const double off = relative(c.rate) + relative(c.root_of_second) +
                     relative(one_minus(declared, optimizer.number("beta1"))) +
                     relative(one_minus(declared, optimizer.number("beta2")));
  const double grown = (1 + gam(6 * t + 16, single(declared).u())) * std::exp(2 * off);
  // The rate takes no part in the quotient: it may overflow where the step would not.
  if (!((ratio + lost) * grown * inflation < single(declared).threshold())) return infinite;
  return (std::fabs(static_cast<double>(rate.exact)) * (ratio + (ratio + lost) * grown) +
          2 * eta * (1 + std::fabs(c.rate.v))) *
         inflation;
}

}  // namespace

Expected adam_exp_avg(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                      const Expected& old) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded beta = constant(optimizer.number("beta1")), rest = one_minus(declared, optimizer.number("beta1"));
  const Slot<long double> slot{zeros_like(gradient).v, {before.v, zeros_like(gradient).v}};
  const bool interpolates = claim_of(declared, "adam").algorithm == "interpolated";
  const auto moved = [&](Bounded g, Bounded m) {
    return interpolates ? interpolated(fp32, m, g, rest) : fp32.add(fp32.mul(beta, m), fp32.mul(rest, g));
  };
  return joined(
      declared, [&] { return moments(optimizer, gradient, slot)[0]; },
      each(
          declared, [&](Bounded g, Bounded m) { return master.store(moved(g, m)); }, gradient, before));
}

Expected adam_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                         const Expected& old) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded beta = constant(optimizer.number("beta2")), rest = one_minus(declared, optimizer.number("beta2"));
  const Slot<long double> slot{zeros_like(gradient).v, {zeros_like(gradient).v, before.v}};
  return joined(
      declared, [&] { return moments(optimizer, gradient, slot)[1]; },
      each(
          declared,
          [&](Bounded g, Bounded v) {
            return master.store(fp32.add(fp32.mul(beta, v), fp32.mul(rest, fp32.mul(g, g))));
          },
          gradient, before));
}

Expected adam_parameter(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step,
                        const Expected& exp_avg, const Expected& exp_avg_sq, const Expected& parameter,
                        bool from_zero) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Corrections c = corrections(declared, optimizer, rate, step);
  const Bounded eps = constant(optimizer.number("eps"));
  const auto exact_eps = number<long double>(optimizer.number("eps"));
  const auto exact = [&]() -> Matrix<long double> {
    const auto root = (exp_avg_sq.v.array() / c.second).max(0).sqrt() + exact_eps;
    return parameter.v.array() - rate.exact / c.first * exp_avg.v.array() / root;
  };
  // The subject's divisor is at least its epsilon: the interval of v may reach 0 without the quotient losing its bound.
  const double least_divisor = std::max(0.0, eps.v - eps.e) * (1 - gam(4, fp32.u()));
  // In a narrower format moments are rounded by more than the cap counts.
  const bool capped = from_zero && declared.master.p == 24;
  const double cap = capped ? longest_step(declared, optimizer, c, rate, step, least_divisor) : infinite;
  const bool as_written = claim_of(declared, "adam").as_written;
  const auto step_of = [&](Bounded p, Bounded m, Bounded v) {
    const Bounded divisor = fp32.add(fp32.div(fp32.sqrt({std::max(v.v, 0.0), v.e}), c.root_of_second), eps);
    const double least = std::max(divisor.v - divisor.e, least_divisor);
    Bounded quotient = fp32.div(m, divisor);
    if (!decided(quotient) && decided(m) && decided(v) && is_positive(c.root_of_second)) {
      const double middle = m.v / divisor.v;
      const double off = (std::fabs(m.v) + m.e) / least * (1 + gam(2, fp32.u())) + std::fabs(middle);
      if (std::fabs(middle) + off < fp32.threshold()) quotient = {middle, off};
    }
    Bounded move = fp32.mul(c.rate, quotient);
    if (decided(m) && decided(v)) move = held_to(move, cap);
    if (!as_written) move = either_product(fp32, move, c.rate, m, least);
    return master.store(fp32.sub(p, move));
  };
  return joined(declared, exact, each(declared, step_of, parameter, exp_avg, exp_avg_sq));
}

}  // namespace tally::oracle

namespace tally::oracle {
namespace {

struct PredictedCorrections {
  HeldConstant rate, root;  // lr / (1 - beta1^(t+1)), sqrt(1 - beta2^(t+1))
};

PredictedCorrections predicted_corrections(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                           std::int64_t step) {
  const auto rate = learning_rate<long double>(schedule, step);
  const auto times = static_cast<long double>(step) + 1;
  const Complement first = complement_of_power(optimizer.number("beta1"), times);
  const Complement second = complement_of_power(optimizer.number("beta2"), times);
  const long double off = of_inverse(first.relative);
  if (!(off < infinite)) return {};
  const long double corrected = rate / first.value, root = std::sqrt(second.value);
  const long double of_rate = 2 * margin_of_rate(schedule, rate, step) / first.value * (1 + off);
  return {held(declared, corrected, of_rate + std::fabs(corrected) * off),
          held(declared, root, root * second.relative)};
}

/// (adam.1) of the gradient, or (adam.2) of its square, stored.
Prediction moment(const Declared& declared, const Decimal& beta, const Matrix<float>& old, const Matrix<float>& now) {
  const HeldConstant rest = held_one_minus(declared, beta);
  if (!as_written(declared, "adam") || !rest) return {};
  const float keep = held(beta);
  return of_each(now.rows(), now.cols(), [&](Eigen::Index i) {
    const float kept = keep * begun_at_zero(old, i);
    const float taken = *rest * now.data()[i];
    return stored(declared.master, kept + taken);
  });
}

}  // namespace

Prediction predicted_exp_avg(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                             const Matrix<float>& old) {
  return moment(declared, optimizer.number("beta1"), old, gradient);
}

Prediction predicted_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                const Matrix<float>& old) {
  return moment(declared, optimizer.number("beta2"), old, gradient.cwiseProduct(gradient));
}

Prediction predicted_adam_parameter(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                    std::int64_t step, const Matrix<float>& exp_avg, const Matrix<float>& exp_avg_sq,
                                    const Matrix<float>& parameter) {
  if (!as_written(declared, "adam")) return {};
  const PredictedCorrections c = predicted_corrections(declared, optimizer, schedule, step);
  if (!c.rate || !c.root) return {};
  const float eps = held(optimizer.number("eps"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float root = std::sqrt(exp_avg_sq.data()[i]);
    const float corrected = root / *c.root;
    const float divisor = corrected + eps;
    const float quotient = exp_avg.data()[i] / divisor;
    const float move = *c.rate * quotient;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle

namespace tally::oracle::adam_kind {
namespace {

template <class T>
Slot<T> adam(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient, Slot<T> slot) {
  const T beta1 = number<T>(optimizer.number("beta1")), beta2 = number<T>(optimizer.number("beta2"));
  const T eps = number<T>(optimizer.number("eps"));
  Matrix<T>&first = slot.state[0], &second = slot.state[1];
  first = (beta1 * first + T(1 - beta1) * gradient).eval();
  second = (beta2 * second + T(1 - beta2) * gradient.cwiseProduct(gradient)).eval();
  const T correction1 = 1 - power(beta1, step + 1), correction2 = 1 - power(beta2, step + 1);
  slot.parameter -= first.binaryExpr(
      second, [&](const T& m, const T& v) -> T { return rate * (m / correction1) / (sqrt(T(v / correction2)) + eps); });
  return slot;
}

const Contract contract{
    .kind = "adam",
    .options = {{.name = "beta1",
                 .type = OptionType::number,
                 .standard = Decimal{"0.9"},
                 .range = {.at_least = "0", .below = "1"}},
                {.name = "beta2",
                 .type = OptionType::number,
                 .standard = Decimal{"0.999"},
                 .range = {.at_least = "0", .below = "1"}},
                {.name = "eps",  // above half the smallest number of fp32, as a subject would hold 0 otherwise
                 .type = OptionType::number,
                 .standard = Decimal{"1e-8"},
                 .range = {.above = "7.006492321624086e-46"}}},
    .state = {{.name = "exp_avg", .word = "momentum"},
              {.name = "exp_avg_sq", .word = "second moment", .never_negative = true}},
    .counts_steps = true,
    .definition = "p <- p - rate m^ / (sqrt(v^) + eps), both moments corrected for their bias"};

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

const Adam rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return adam<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::adam_kind

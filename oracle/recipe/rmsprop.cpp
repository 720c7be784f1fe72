// Element by element: g is the gradient, v the mean of its squares, b the momentum buffer, p the parameter.
// (rmsprop.1)  v <- alpha v + (1 - alpha) g²
// (rmsprop.2)  q = g / (sqrt(v) + eps)
// (rmsprop.3)  b <- momentum b + q
// (rmsprop.4)  p <- p - rate b, or p - rate q without momentum
// RMSProp: (rmsprop.1), (rmsprop.2), (rmsprop.3) and (rmsprop.4) by the operations of kernels/arithmetic.md.
// RMSProp, bit by bit: (rmsprop.1), (rmsprop.2), (rmsprop.3) and (rmsprop.4), one operation a line as
// kernels/arithmetic.md writes them.
#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

Matrix<long double> exact_quotient(const Choice& optimizer, const Expected& gradient, const Expected& square) {
  return gradient.v.array() / (square.v.array().max(0).sqrt() + number<long double>(optimizer.number("eps")));
}

/// (rmsprop.2). However near v's interval comes to 0: the subject's v holds (1 - a) g g of its own g, so that its
/// quotient is at most R (1 + gam(8)) (1 + sqrt(3 eta / (1 - a)) / eps) with R = 1 / sqrt(1 - a): four roundings of v
/// under a root, and g g, its share and the sum may each have underflowed. That and the size of the expected quotient is
/// the cap; it needs v as fp32 leaves it. The expected quotient may be larger than R where v is the subject's and g is
/// not.
class Quotient {
 public:
  Quotient(const Declared& declared, const Choice& optimizer)
      : fp32_(single(declared)), eps_(constant(optimizer.number("eps"))) {
    least_divisor_ = std::max(0.0, eps_.v - eps_.e) * (1 - gam(2, fp32_.u()));
    const Bounded rest = one_minus(declared, optimizer.number("alpha"));
    const double least_rest = rest.v - rest.e;
    if (declared.master.p != 24 || !(least_rest > 0) || !(least_divisor_ > 0)) return;
    const double most = 1 / std::sqrt(least_rest);
    const double lost = std::sqrt(3 * fp32_.underflow() / least_rest) / least_divisor_;
    const double own = most * (1 + gam(8, fp32_.u())) * (1 + lost);
    if (own * inflation < fp32_.threshold()) own_ = own;
  }

  /// What the root of v and eps come to at least.
  double least(Bounded v) const {
    const Bounded divisor = divisor_of(v);
    return std::max(divisor.v - divisor.e, least_divisor_);
  }

  Bounded of(Bounded g, Bounded v) const {
    const Bounded divisor = divisor_of(v);
    const double least = std::max(divisor.v - divisor.e, least_divisor_);
    Bounded quotient = fp32_.div(g, divisor);
    if (!decided(quotient) && decided(g) && decided(v) && least > 0) {
      const double middle = g.v / divisor.v;
      const double off = (std::fabs(g.v) + g.e) / least * (1 + gam(2, fp32_.u())) + std::fabs(middle);
      if (std::fabs(middle) + off < fp32_.threshold()) quotient = {middle, off};
    }
    if (!decided(g) || !decided(v) || !(own_ < infinite)) return quotient;
    return held_to(quotient, (own_ + std::fabs(g.v / divisor.v)) * inflation);
  }

 private:
  Bounded divisor_of(Bounded v) const { return fp32_.add(fp32_.sqrt({std::max(v.v, 0.0), v.e}), eps_); }

  const Arithmetic fp32_;
  Bounded eps_;
  double least_divisor_ = 0, own_ = infinite;
};

}  // namespace

Expected rmsprop_square(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& old) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded alpha = constant(optimizer.number("alpha")), rest = one_minus(declared, optimizer.number("alpha"));
  const auto exact = number<long double>(optimizer.number("alpha"));
  return joined(
      declared,
      [&]() -> Matrix<long double> { return exact * before.v + (1 - exact) * gradient.v.cwiseProduct(gradient.v); },
      each(
          declared,
          [&](Bounded g, Bounded v) {
            return master.store(fp32.add(fp32.mul(alpha, v), fp32.mul(rest, fp32.mul(g, g))));
          },
          gradient, before));
}

Expected rmsprop_buffer(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& square, const Expected& old) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded mu = constant(optimizer.number("momentum"));
  const Quotient quotient(declared, optimizer);
  return joined(
      declared,
      [&]() -> Matrix<long double> {
        return number<long double>(optimizer.number("momentum")) * before.v +
               exact_quotient(optimizer, gradient, square);
      },
      each(
          declared,
          [&](Bounded g, Bounded v, Bounded b) { return master.store(fp32.add(fp32.mul(mu, b), quotient.of(g, v))); },
          gradient, square, before));
}

Expected rmsprop_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                           const Expected& gradient, const Expected& square, const Expected& buffer,
                           const Expected& parameter) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Bounded lr = bounded_scalar(declared, rate);
  const auto moved = [&](Bounded p, Bounded d) { return master.store(fp32.sub(p, fp32.mul(lr, d))); };
  if (buffer.v.size() != 0)
    return joined(
        declared, [&]() -> Matrix<long double> { return parameter.v - rate.v(0, 0) * buffer.v; },
        each(declared, moved, parameter, buffer));
  const Quotient quotient(declared, optimizer);
  const bool as_written = claim_of(declared, "rmsprop").as_written;
  const auto step_of = [&](Bounded p, Bounded g, Bounded v) {
    if (as_written) return moved(p, quotient.of(g, v));
    return master.store(fp32.sub(p, either_product(fp32, fp32.mul(lr, quotient.of(g, v)), lr, g, quotient.least(v))));
  };
  return joined(
      declared,
      [&]() -> Matrix<long double> { return parameter.v - rate.v(0, 0) * exact_quotient(optimizer, gradient, square); },
      each(declared, step_of, parameter, gradient, square));
}

}  // namespace tally::oracle

namespace tally::oracle {
namespace {

float quotient_of(float gradient, float square, float eps) {
  const float root = std::sqrt(square);
  const float divisor = root + eps;
  return gradient / divisor;
}

}  // namespace

Prediction predicted_square(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& old) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("alpha"));
  if (!as_written(declared, "rmsprop") || !rest) return {};
  const float alpha = held(optimizer.number("alpha"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = alpha * begun_at_zero(old, i);
    const float squared = gradient.data()[i] * gradient.data()[i];
    const float taken = *rest * squared;
    return stored(declared.master, kept + taken);
  });
}

Prediction predicted_buffer(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& square, const Matrix<float>& old) {
  if (!as_written(declared, "rmsprop")) return {};
  const float mu = held(optimizer.number("momentum")), eps = held(optimizer.number("eps"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = mu * begun_at_zero(old, i);
    return stored(declared.master, kept + quotient_of(gradient.data()[i], square.data()[i], eps));
  });
}

Prediction predicted_rmsprop_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                       const Matrix<float>& gradient, const Matrix<float>& square,
                                       const Matrix<float>& buffer, const Matrix<float>& parameter) {
  if (!as_written(declared, "rmsprop")) return {};
  const float eps = held(optimizer.number("eps"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float direction =
        buffer.size() != 0 ? buffer.data()[i] : quotient_of(gradient.data()[i], square.data()[i], eps);
    const float move = rate * direction;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle

namespace tally::oracle::rmsprop_kind {
namespace {

template <class T>
Slot<T> rmsprop(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T alpha = number<T>(optimizer.number("alpha")), eps = number<T>(optimizer.number("eps"));
  Matrix<T>& square = slot.state[0];
  square = (alpha * square + T(1 - alpha) * gradient.cwiseProduct(gradient)).eval();
  const Matrix<T> quotient =
      gradient.binaryExpr(square, [&](const T& g, const T& v) -> T { return g / (sqrt(v) + eps); });
  if (slot.state.size() == 1) {
    slot.parameter -= rate * quotient;
    return slot;
  }
  Matrix<T>& buffer = slot.state[1];
  buffer = (number<T>(optimizer.number("momentum")) * buffer + quotient).eval();
  slot.parameter -= rate * buffer;
  return slot;
}

bool has_momentum(const Choice& rmsprop) { return compare_decimals(rmsprop.number("momentum").text, "0") != 0; }

const Contract contract{
    .kind = "rmsprop",
    .options = {{.name = "alpha",
                 .type = OptionType::number,
                 .standard = Decimal{"0.99"},
                 .range = {.at_least = "0", .below = "1"}},
                {.name = "eps",  // above half the smallest number of fp32, as a subject would hold 0 otherwise
                 .type = OptionType::number,
                 .standard = Decimal{"1e-8"},
                 .range = {.above = "7.006492321624086e-46"}},
                {.name = "momentum",
                 .type = OptionType::number,
                 .standard = Decimal{"0"},
                 .range = {.at_least = "0", .below = "1"}}},
    .state = {{.name = "square_avg", .word = "second moment", .never_negative = true},
              {.name = "momentum_buffer", .word = "momentum", .present = has_momentum}},
    .definition = "v <- alpha v + (1 - alpha) g g; q = g / (sqrt(v) + eps); b <- momentum b + q; p <- p - rate b"};

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

const Rmsprop rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return rmsprop<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::rmsprop_kind

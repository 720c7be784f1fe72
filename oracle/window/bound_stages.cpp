// Accumulation, stages that are one correctly rounded operation, and what a kind's file says of the others.
#include "oracle/window/bound_stages.hpp"

#include <limits>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
Expected scalar(long double v, double e) {
  Expected x{Matrix<long double>(1, 1), Matrix<double>(1, 1)};
  x.v(0, 0) = v;
  x.e(0, 0) = e;
  return x;
}

Expected cast(const Declared& declared, const Format& to, const Expected& x) {
  const Arithmetic storage(declared, to);
  return joined(declared, x.v,
                each(
                    declared, [&](Bounded a) { return storage.store(a); }, x));
}

Expected scaled(const Declared& declared, const Expected& x, const Expected& factor) {
  const Arithmetic fp32 = single(declared);
  const Bounded by = bounded_scalar(declared, factor);
  return joined(
      declared, [&] { return x.v * factor.v(0, 0); },
      each(
          declared, [&](Bounded a) { return fp32.mul(a, by); }, x));
}

Expected decayed(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                 const Expected& parameter) {
  return decay_rules(decay).decayed(declared, decay, rate, gradient, parameter);
}

namespace {

/// (running_statistics.1), or with the correction n / (n - 1) (running_statistics.2), stored.
BoundedMatrix moved(const Declared& declared, const Layer& layer, const Expected& running, const Expected& batch,
                    Bounded correction) {
  const Arithmetic fp32 = single(declared), master(declared, declared.master);
  const Decimal& momentum = layer.number("momentum");
  const Bounded keep = one_minus(declared, momentum), take = constant(momentum);
  return each(
      declared,
      [&](Bounded r, Bounded value) {
        const Bounded sum = fp32.add(fp32.mul(keep, r), fp32.mul(take, fp32.mul(value, correction)));
        return master.store(sum);
      },
      running, batch);
}

}  // namespace

Expected running_mean(const Declared& declared, const Layer& layer, const Expected& running, const Expected& mean) {
  return joined(declared, running_mean<long double>(layer, running.v, mean.v),
                moved(declared, layer, running, mean, {1, 0}));
}

Expected running_var(const Declared& declared, const Layer& layer, const Expected& running, const Expected& biased_var,
                     std::int64_t rows) {
  const auto n = static_cast<double>(rows);
  const long double exact = static_cast<long double>(n) / static_cast<long double>(n - 1);
  const Bounded correction = derived_constant(declared, exact, single(declared).div({n, 0}, {n - 1, 0}));
  return joined(declared, running_var<long double>(layer, running.v, biased_var.v, rows),
                moved(declared, layer, running, biased_var, correction));
}

ExpectedScale first_scale(const Choice& loss_scale) {
  const Decimal* written = written_scale(loss_scale);
  const auto exact = initial_scale<long double>(loss_scale);
  return {scalar(exact.scale, written == nullptr ? 0 : constant(*written).e), exact.growth_counter};
}

ExpectedScale scale_after(const Declared& declared, const Choice& loss_scale, const ExpectedScale& now,
                          bool found_non_finite) {
  return checks_overflow(loss_scale) ? scale_rules(loss_scale).after(declared, loss_scale, now, found_non_finite) : now;
}

// Accumulation buffers of every format: one addition, a compensated sum, a GEMM's epilogue. Derivations:
// oracle/variants.md, "Accumulation buffers".
namespace {

/// fl32(A + g), stored in A.
Bounded plain(const Declared& declared, const Arithmetic& store, Bounded buffer, Bounded gradient) {
  return store.store(single(declared).add(buffer, gradient));
}

/// The gradient in A: as it is where A holds every number of the storage format.
Bounded converted(const Declared& declared, Bounded gradient) {
  const bool held = declared.accumulate.p == 24 || declared.accumulate.p == declared.storage.p;
  return held ? gradient : Arithmetic(declared, declared.accumulate).store(gradient);
}

/// One addition in A.
Bounded native(const Arithmetic& in, Bounded buffer, Bounded gradient) { return in.add(buffer, gradient); }

/// y = fl(g - c), A = fl(A + y) with |c| <= 4 u |A|.
Bounded compensated(const Arithmetic& in, Bounded buffer, Bounded gradient) {
  const Bounded compensation{0, 4 * in.u() * (std::fabs(buffer.v) + buffer.e)};
  return in.add(buffer, in.sub(gradient, compensation));
}

Bounded one_addition(const Declared& declared, const std::string& algorithm, Bounded a, Bounded g) {
  const Arithmetic in(declared, declared.accumulate);
  if (algorithm.empty() || algorithm == "plain") return plain(declared, in, a, g);
  if (algorithm == "native") return native(in, a, converted(declared, g));
  if (algorithm == "kahan") return compensated(in, a, converted(declared, g));
  if (algorithm != "any") {
    throw std::logic_error("accumulation by '" + algorithm + "' has no bound; expected plain, native, kahan or any");
  }
  const Bounded first = plain(declared, in, a, g), second = native(in, a, converted(declared, g));
  return wider(wider(first, second), compensated(in, a, converted(declared, g)));
}

/// After j steps of y = fl(g - c), t = fl(s + y), c = fl(fl(t - s) - y), s = t: s - c is the sum of the g within
/// `wrong` and |s| <= held.
struct Compensated {
  Addends addends;
  double wrong = 0, held = 0;

  void add(const Arithmetic& in, Bounded g) {
    addends.add(g);
    const double u = in.u(), size = std::fabs(g.v) + g.e, c = 4 * u * held;
    const double y = (size + c) * (1 + u), off = u * (size + c);
    const double by_sum = std::fabs(addends.v) + addends.e + wrong + off;
    held = std::min(held + y, by_sum) * (1 + u);
    wrong += off + u * (y + u * held) + 4 * u * u * held;
  }
};

}  // namespace

Expected accumulated(const Declared& declared, const Expected& buffer, const Expected& gradient) {
  const std::string& algorithm = claim_of(declared, "accumulate").algorithm;
  return joined(
      declared, buffer.v + gradient.v,
      each(
          declared, [&](Bounded a, Bounded g) { return one_addition(declared, algorithm, a, g); }, buffer, gradient));
}

Expected compensated_sum(const Declared& declared, const std::vector<Expected>& gradients) {
  const Arithmetic in(declared, declared.accumulate);
  Expected sum{Matrix<long double>::Zero(gradients.at(0).v.rows(), gradients.at(0).v.cols()), {}};
  for (const Expected& g : gradients) sum.v += g.v;
  const auto element = [&](Eigen::Index i) -> Bounded {
    Compensated state;
    double largest = 0;
    bool spoilt = false;  // an infinity makes the compensation NaN, and with it every later sum
    for (const Expected& g : gradients) {
      spoilt = spoilt || !std::isfinite(state.addends.v);
      state.add(in, converted(declared, {static_cast<double>(g.v.data()[i]), declared.incoming(g.e.data()[i])}));
      largest = std::max(largest, state.held);
    }
    const double off = state.addends.e < infinite ? 0 : infinite;
    if (spoilt) return {std::numeric_limits<double>::quiet_NaN(), off};
    if (!std::isfinite(state.addends.v)) return {state.addends.v, off};
    const double e = state.addends.e + state.wrong + 4 * in.u() * state.held;
    return {state.addends.v, 2 * largest < in.threshold() ? e * inflation : infinite};
  };
  BoundedMatrix bound(sum.v.rows(), sum.v.cols());
  for (Eigen::Index i = 0; i < sum.v.size(); ++i) {
    const Bounded x = element(i);
    bound.v.data()[i] = x.v;
    bound.e.data()[i] = x.e;
  }
  return joined(declared, sum.v, bound);
}

Expected accumulated_by_gemm(const Declared& declared, const Expected& buffer, const Expected& a, const Expected& b) {
  const bool empty = (buffer.v.array() == 0).all() && (buffer.e.array() == 0).all();
  const BoundedMatrix sum = empty ? product(declared, BoundedMatrix(declared, a), BoundedMatrix(declared, b))
                                  : product_onto(declared, BoundedMatrix(declared, buffer), BoundedMatrix(declared, a),
                                                 BoundedMatrix(declared, b));
  return joined(declared, buffer.v + a.v * b.v, stored(declared, declared.accumulate, sum));
}

// Stages that are one correctly rounded operation: their bits are predicted.
namespace {

bool is_fp32(const Format& format) { return format.p == 24; }

}  // namespace

Matrix<float> rounded_cast(const Format& to, const FloatsRef& x) {
  if (is_fp32(to)) return x;
  return x.unaryExpr([&](float each) { return static_cast<float>(rounded(to, each)); });
}

Matrix<float> rounded_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient) {
  return rounded_cast(accumulate, buffer + gradient);
}

Matrix<float> rounded_native_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient) {
  return buffer.binaryExpr(gradient, [&](float b, float g) {
    return static_cast<float>(rounded_sum(accumulate, b, rounded(accumulate, g)));
  });
}

std::optional<Matrix<float>> rounded_accumulate(const Declared& declared, const FloatsRef& buffer,
                                                const FloatsRef& gradient) {
  const std::string& algorithm = claim_of(declared, "accumulate").algorithm;
  if (algorithm.empty() || algorithm == "plain") return rounded_accumulate(declared.accumulate, buffer, gradient);
  if (algorithm == "native") return rounded_native_accumulate(declared.accumulate, buffer, gradient);
  return {};
}

Expected held_accumulate(const Declared& declared, const FloatsRef& buffer, const FloatsRef& gradient) {
  if (const auto bits = rounded_accumulate(declared, buffer, gradient)) return known(*bits);
  return accumulated(declared, known(buffer), known(gradient));
}

CompensatedStep rounded_compensated(const Declared& declared, const FloatsRef& buffer, const FloatsRef& compensation,
                                    const FloatsRef& gradient) {
  const Format& in = declared.accumulate;
  CompensatedStep next{buffer, compensation};
  for (Eigen::Index i = 0; i < next.buffer.size(); ++i) {
    const double s = next.buffer.data()[i], c = next.compensation.data()[i];
    const double y = rounded_sum(in, rounded(in, gradient.data()[i]), -c), t = rounded_sum(in, s, y);
    next.buffer.data()[i] = static_cast<float>(t);
    next.compensation.data()[i] = static_cast<float>(rounded_sum(in, rounded_sum(in, t, -s), -y));
  }
  return next;
}

Matrix<float> rounded_product(const FloatsRef& x, float factor) { return x * factor; }

Expected predicted_constant(const Expected& constant) {
  const long double v = constant.v(0, 0);
  const auto held = static_cast<float>(static_cast<double>(v));
  const auto within = [&](float other) { return static_cast<double>(std::fabs(other - v)) <= constant.e(0, 0); };
  const bool alone = !within(std::nextafter(held, INFINITY)) && !within(std::nextafter(held, -INFINITY));
  return alone && within(held) ? scalar(held) : constant;
}

bool any_non_finite(const Tensor& buffer) {
  const FloatView view(buffer);
  const FloatsRef x = view;
  return std::any_of(x.data(), x.data() + x.size(), [](float each) { return !std::isfinite(each); });
}

}  // namespace tally::oracle

// Accumulation buffers of every format: one addition, a compensated sum, a GEMM's epilogue. Derivations:
// oracle/variants.md, "Accumulation buffers".
#include <limits>
#include <stdexcept>

#include "oracle/tolerance/each.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

/// fl32(A + g), stored in A.
Bounded plain(const Arithmetic& store, Bounded buffer, Bounded gradient) {
  return store.store(single().add(buffer, gradient));
}

/// The gradient in A: as it is where A holds every number of the storage format.
Bounded converted(const Declared& declared, Bounded gradient) {
  const bool held = declared.accumulate.p == 24 || declared.accumulate.p == declared.storage.p;
  return held ? gradient : Arithmetic(declared.accumulate).store(gradient);
}

/// One addition in A.
Bounded native(const Arithmetic& in, Bounded buffer, Bounded gradient) { return in.add(buffer, gradient); }

/// y = fl(g - c), A = fl(A + y) with |c| <= 4 u |A|.
Bounded compensated(const Arithmetic& in, Bounded buffer, Bounded gradient) {
  const Bounded compensation{0, 4 * in.u() * (std::fabs(buffer.v) + buffer.e)};
  return in.add(buffer, in.sub(gradient, compensation));
}

Bounded one_addition(const Declared& declared, const std::string& algorithm, Bounded a, Bounded g) {
  const Arithmetic in(declared.accumulate);
  if (algorithm.empty() || algorithm == "plain") return plain(in, a, g);
  if (algorithm == "native") return native(in, a, converted(declared, g));
  if (algorithm == "kahan") return compensated(in, a, converted(declared, g));
  if (algorithm != "any") {
    throw std::logic_error("accumulation by '" + algorithm + "' has no bound; expected plain, native, kahan or any");
  }
  const Bounded first = plain(in, a, g), second = native(in, a, converted(declared, g));
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
  return joined(buffer.v + gradient.v,
                each([&](Bounded a, Bounded g) { return one_addition(declared, algorithm, a, g); }, buffer, gradient));
}

Expected compensated_sum(const Declared& declared, const std::vector<Expected>& gradients) {
  const Arithmetic in(declared.accumulate);
  Expected sum{Matrix<long double>::Zero(gradients.at(0).v.rows(), gradients.at(0).v.cols()), {}};
  for (const Expected& g : gradients) sum.v += g.v;
  const auto element = [&](Eigen::Index i) -> Bounded {
    Compensated state;
    double largest = 0;
    bool spoilt = false;  // an infinity makes the compensation NaN, and with it every later sum
    for (const Expected& g : gradients) {
      spoilt = spoilt || !std::isfinite(state.addends.v);
      state.add(in, converted(declared, {static_cast<double>(g.v.data()[i]), incoming(g.e.data()[i])}));
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
  return joined(sum.v, bound);
}

Expected accumulated_by_gemm(const Declared& declared, const Expected& buffer, const Expected& a, const Expected& b) {
  const bool empty = (buffer.v.array() == 0).all() && (buffer.e.array() == 0).all();
  const BoundedMatrix sum = empty ? product(declared, BoundedMatrix(a), BoundedMatrix(b))
                                  : product_onto(declared, BoundedMatrix(buffer), BoundedMatrix(a), BoundedMatrix(b));
  return joined(buffer.v + a.v * b.v, stored(declared.accumulate, sum));
}

}  // namespace tally::oracle

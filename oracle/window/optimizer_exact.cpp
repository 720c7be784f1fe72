#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

template <class T>
Slot<T> sgd(const Choice& optimizer, const T& rate, const Matrix<T>& gradient, Slot<T> slot) {
  const T momentum = number<T>(optimizer.number("momentum"));
  if (momentum == 0) {
    slot.parameter -= rate * gradient;
    return slot;
  }
  if (slot.momentum.size() == 0)
    slot.momentum = gradient;
  else
    slot.momentum = (momentum * slot.momentum + T(1 - number<T>(optimizer.number("dampening"))) * gradient).eval();
  if (optimizer.flag("nesterov"))
    slot.parameter -= rate * (gradient + momentum * slot.momentum);
  else
    slot.parameter -= rate * slot.momentum;
  return slot;
}

template <class T>
Slot<T> adam(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient, Slot<T> slot) {
  const T beta1 = number<T>(optimizer.number("beta1")), beta2 = number<T>(optimizer.number("beta2"));
  const T eps = number<T>(optimizer.number("eps"));
  if (slot.exp_avg.size() == 0) slot.exp_avg = Matrix<T>::Zero(gradient.rows(), gradient.cols());
  if (slot.exp_avg_sq.size() == 0) slot.exp_avg_sq = Matrix<T>::Zero(gradient.rows(), gradient.cols());
  slot.exp_avg = (beta1 * slot.exp_avg + T(1 - beta1) * gradient).eval();
  slot.exp_avg_sq = (beta2 * slot.exp_avg_sq + T(1 - beta2) * gradient.cwiseProduct(gradient)).eval();
  const T correction1 = 1 - power(beta1, step + 1), correction2 = 1 - power(beta2, step + 1);
  slot.parameter -= slot.exp_avg.binaryExpr(slot.exp_avg_sq, [&](const T& m, const T& v) -> T {
    return rate * (m / correction1) / (sqrt(T(v / correction2)) + eps);
  });
  return slot;
}

}  // namespace

template <class T>
Slot<T> updated(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                const Slot<T>& slot) {
  if (optimizer.kind == "sgd") return sgd(optimizer, rate, gradient, slot);
  if (optimizer.kind == "adam") return adam(optimizer, rate, step, gradient, slot);
  throw std::logic_error("optimizer: no mathematics for kind \"" + optimizer.kind + "\"");
}

template Slot<Real> updated(const Choice&, const Real&, std::int64_t, const Matrix<Real>&, const Slot<Real>&);
template Slot<long double> updated(const Choice&, const long double&, std::int64_t, const Matrix<long double>&,
                                   const Slot<long double>&);
template Slot<Ball> updated(const Choice&, const Ball&, std::int64_t, const Matrix<Ball>&, const Slot<Ball>&);

}  // namespace tally::oracle

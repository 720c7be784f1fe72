// Rules of elementwise layers: the formula in the (v, e) algebra, element by element, then one store.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// y = f(x), stored. `f(fp32, x)` is the kernel's line.
template <class F>
ExpectedForward elementwise_forward(const BoundPass& pass, const Expected& x, F&& f) {
  const Arithmetic fp32 = single(), storage(pass.subject.storage);
  const BoundedMatrix input(x);
  BoundedMatrix y(x.v.rows(), x.v.cols());
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.cols(); ++j) y.set(i, j, storage.store(f(fp32, input.at(i, j))));
  }
  return {joined(exact_forward(pass, x).y, y), {}, {}, {}};
}

/// dx = f(x, dy), stored.
template <class F>
ExpectedBackward elementwise_backward(const BoundPass& pass, const Expected& x, const Expected& dy, F&& f) {
  const Arithmetic fp32 = single(), storage(pass.subject.storage);
  const BoundedMatrix input(x), gradient(dy);
  BoundedMatrix dx(x.v.rows(), x.v.cols());
  for (Eigen::Index i = 0; i < dx.rows(); ++i) {
    for (Eigen::Index j = 0; j < dx.cols(); ++j) {
      dx.set(i, j, storage.store(f(fp32, input.at(i, j), gradient.at(i, j))));
    }
  }
  return {joined(exact_backward(pass, x, dy).dx, dx), {}};
}

/// Every own function of the kernels (exp, log, tanh, erf) is within 2 ulp of the exact value.
inline constexpr double ulps_of_functions = 2;

inline Bounded exp_of(const Arithmetic& fp32, Bounded x) {
  return fp32.monotone([](double t) { return std::exp(t); }, x, ulps_of_functions);
}
inline Bounded tanh_of(const Arithmetic& fp32, Bounded x) {
  return fp32.monotone([](double t) { return std::tanh(t); }, x, ulps_of_functions);
}
inline Bounded erf_of(const Arithmetic& fp32, Bounded x) {
  return fp32.monotone([](double t) { return std::erf(t); }, x, ulps_of_functions);
}

}  // namespace tally::oracle

// Rules of elementwise layers: the formula in the (v, e) algebra, element by element, then one store.
#pragma once

#include <cmath>
#include <initializer_list>

#include "oracle/layers/contract.hpp"
#include "oracle/tolerance/approximated_erf.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// fp32 with the functions of the kernel behind one direction of a layer.
class Elementary : public Arithmetic {
 public:
  Elementary(const BoundPass& pass, const char* direction)
      : Elementary(claim_of(pass.declared, kernel_family_of(pass.layer) + direction)) {}
  explicit Elementary(const KernelClaim& claim)
      : Arithmetic(single()),
        error_(functions_of(claim)),
        foreign_(claim.function_ulp == 0),
        least_error_of_erf_(claim.function_ulp > 0 || claim.algorithm == "erf" ? 0 : approximated_erf(u())) {}

  Bounded exp(Bounded x) const {
    return monotone([](double t) { return std::exp(t); }, x, error_);
  }
  Bounded tanh(Bounded x) const {
    return monotone([](double t) { return std::tanh(t); }, x, error_);
  }
  Bounded erf(Bounded x) const {
    Bounded y = monotone([](double t) { return std::erf(t); }, x, error_);
    y.e += sources().function * least_error_of_erf_;
    return y;
  }

  /// A product of these factors, by a kernel that may multiply them in any order where it says nothing of itself: what
  /// some of them come to underflows by eta, and the others multiply it.
  Bounded in_any_order(Bounded product, std::initializer_list<Bounded> factors) const {
    if (!foreign_) return product;
    double others = static_cast<double>(factors.size()) * underflow();
    for (const Bounded& factor : factors) others *= 1 + std::fabs(factor.v) + factor.e;
    product.e += others;
    return product;
  }

 private:
  FunctionError error_;
  bool foreign_;
  double least_error_of_erf_;  // absolute: of libraries that evaluate it by one polynomial over all numbers
};

/// y = f(x), stored. `f(fp32, x)` is the kernel's line.
template <class F>
ExpectedForward elementwise_forward(const BoundPass& pass, const Expected& x, F&& f) {
  const Elementary fp32(pass, ".forward");
  const Arithmetic storage(pass.declared.storage);
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
  const Elementary fp32(pass, ".backward");
  const Arithmetic storage(pass.declared.storage);
  const BoundedMatrix input(x), gradient(dy);
  BoundedMatrix dx(x.v.rows(), x.v.cols());
  for (Eigen::Index i = 0; i < dx.rows(); ++i) {
    for (Eigen::Index j = 0; j < dx.cols(); ++j) {
      dx.set(i, j, storage.store(f(fp32, input.at(i, j), gradient.at(i, j))));
    }
  }
  return {joined(exact_backward(pass, x, dy).dx, dx), {}};
}

inline Bounded exp_of(const Elementary& fp32, Bounded x) { return fp32.exp(x); }
inline Bounded tanh_of(const Elementary& fp32, Bounded x) { return fp32.tanh(x); }
inline Bounded erf_of(const Elementary& fp32, Bounded x) { return fp32.erf(x); }

}  // namespace tally::oracle

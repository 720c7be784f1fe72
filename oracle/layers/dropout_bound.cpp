// dropout: (dropout.1) and (dropout.2) as one product with the constant fl(1 / (1 - p)), stored; 0 where dropped.
#include "oracle/tolerance/kept_factor.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle::dropout_bound {
namespace {

BoundedMatrix scaled(const BoundPass& pass, const Expected& in) {
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const Bounded f = kept_factor(pass);
  const auto& mask = pass.tensors.at("mask").v;
  BoundedMatrix out(in);
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
      out.set(i, j, mask(i, j) != 0 ? storage.store(fp32.mul(out.at(i, j), f)) : Bounded{});
    }
  }
  return out;
}

/// Dropped elements are selected away, also where they are not finite.
Matrix<long double> masked(const BoundPass& pass, Matrix<long double> exact) {
  if (bounds_only()) return exact;
  return (pass.tensors.at("mask").v.array() != 0).select(exact, Matrix<long double>::Zero(exact.rows(), exact.cols()));
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {joined(masked(pass, exact_forward(pass, x).y), scaled(pass, x)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined(masked(pass, exact_backward(pass, x, dy).dx), scaled(pass, dy)), {}};
}

const RegisterBoundRule registered("dropout", {forward, backward});

}  // namespace
}  // namespace tally::oracle::dropout_bound
